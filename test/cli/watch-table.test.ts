import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { table } from '../../src/cli/watch-table.ts';
import { createSupervisor } from '../../src/index.ts';
import { refusingUrl } from '../support/refusing-url.ts';

it('the name of a connection does not reach the terminal as control characters, also where it says what to do', async () => {
  await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const transport = { kind: 'http', url: await refusingUrl() } as const;
  const handle = supervisor.own('a\u001b[2Jb', { transport, lazy: true, recovery: { maxAttempts: 1 } });
  await expect(handle.reconnect()).rejects.toThrow();
  const text = table([handle], [], 120, 30);
  expect(text).toContain('ab: no connection could be made to the server');
  expect(text).not.toContain('\u001b[2J');
});

/** Connections that could not be made. */
async function spent(count: number) {
  const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const transport = { kind: 'http', url: await refusingUrl() } as const;
  const names = Array.from({ length: count }, (_, n) => `server-${n}`);
  const handles = names.map((name) =>
    supervisor.own(name, { transport, lazy: true, recovery: { maxAttempts: 1 } }),
  );
  await Promise.allSettled(handles.map((handle) => handle.reconnect()));
  return { supervisor, handles };
}

const STEPS = Array.from({ length: 8 }, (_, n) => `step ${n}`);

it.each([
  [24, 13],
  [10, 4],
  [3, 1],
])('in %i rows it is a table first, and no longer than they are, or than five', async (rows, shown) => {
  const { supervisor, handles } = await spent(30);
  const lines = stripVTControlCharacters(table(handles, STEPS, 80, rows)).split('\n');
  expect(lines.filter((line) => /^server-\d+ +exhausted .*unreachable/.test(line))).toHaveLength(shown);
  expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 5));
  if (rows > 3) expect(lines).toContain('step 7');
  await supervisor.close();
});

it('in few columns there is still the name', async () => {
  const { supervisor, handles } = await spent(1);
  expect(table(handles, [], 12, 24)).toMatch(/^server-0/m);
  await supervisor.close();
});
