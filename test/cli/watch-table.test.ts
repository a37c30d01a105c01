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
  expect(text).toContain('ab: Call again after the cool-down');
  expect(text).not.toContain('\u001b[2J');
});
