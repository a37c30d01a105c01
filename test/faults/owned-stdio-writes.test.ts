// Owned, stdio: the child dies with calls in its pipe. What it read may have run; only what never was in the pipe is
// sent again.

import { describe, expect, it } from 'vitest';
import { callTool, expectEnding, type Owned, own, type Settled, settled, stdio } from '../support/owned.ts';
import { type StdioServer, stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
/** Told by the failed write, or by the end of the connection. */
const MAY_HAVE_RUN = { unknown: ['connection-closed', 'request-cut'] };

/** A call with an argument of this size; the server leaves it unread. */
function append(owned: Owned, key: string, bytes: number): Promise<Settled> {
  return settled(callTool(owned, 'append', { key, pad: 'x'.repeat(bytes) }, MINUTE));
}

/** The server stands still while the calls are made, so that they wait for it. */
async function madeWhileStopped<T>(server: StdioServer, make: () => T): Promise<T> {
  const pid = server.server();
  process.kill(pid, 'SIGSTOP');
  const made = make();
  // By then the calls have been handed to the transport.
  await new Promise((resolve) => setImmediate(resolve));
  process.kill(pid, 'SIGCONT');
  return made;
}

/** How often each call had its effect, by key. */
function runsByKey(server: StdioServer): Map<unknown, number> {
  const runs = new Map<unknown, number>();
  for (const { key, tool } of server.ledger.events('run')) {
    if (tool !== 'spawnGrandchild') runs.set(key, (runs.get(key) ?? 0) + 1);
  }
  return runs;
}

/** A grandchild that holds one of the server's pipes (0, 1, 2) when that has died. */
async function spawnHolder(owned: Owned, pipe: number | undefined): Promise<void> {
  if (pipe === undefined) return;
  const holds = [0, 1, 2].map((each) => (each === pipe ? 'inherit' : 'ignore'));
  await callTool(owned, 'spawnGrandchild', { stdio: holds });
}

const HOLDERS: [what: string, pipe: number | undefined][] = [
  ['nobody holds its pipes', undefined],
  ['a grandchild holds its stdin', 0],
  ['a grandchild holds its stdout', 1],
  ['a grandchild holds its stderr', 2],
];

describe.each(HOLDERS)('a call that ran is not run again: %s', (_what, pipe) => {
  it.each([
    [300_000, 300_000],
    [10, 1_000_000],
    [10, 10],
  ])('%i bytes before it, %i after it', async (before, after) => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await owned.ready();
    await spawnHolder(owned, pipe);
    const calls = await madeWhileStopped(server, () => [
      append(owned, 'before', before),
      settled(callTool(owned, 'exit', { key: 'exit', atOnce: true }, MINUTE)),
      ...Array.from({ length: 10 }, (_, n) => append(owned, `after${n}`, after)),
    ]);
    const [, exit, ...later] = await Promise.all(calls);
    expectEnding(exit as Settled, MAY_HAVE_RUN);
    for (const end of later) if (end.error !== undefined) expectEnding(end, MAY_HAVE_RUN);
    const runs = runsByKey(server);
    expect([...runs].filter(([, times]) => times > 1)).toEqual([]);
    expect(runs.get('exit')).toBe(1);
  });

  it.each([1, 300, 900])(
    'of twelve hundred, after %i have run',
    async (dies) => {
      await using server = stdioServer();
      await using owned = own(stdio(server));
      await owned.ready();
      await spawnHolder(owned, pipe);
      const first = server.server();
      const calls = await madeWhileStopped(server, () =>
        Array.from({ length: 1_200 }, (_, n) => append(owned, String(n), 100)),
      );
      await until(() => server.ledger.count('run') >= dies, { timeoutMs: MINUTE });
      process.kill(first, 'SIGKILL');
      const ends = await Promise.all(calls);
      const runs = runsByKey(server);
      const answered = ends.flatMap(({ error }, n) => (error === undefined ? [String(n)] : []));
      expect(answered.filter((key) => runs.get(key) !== 1)).toEqual([]);
      for (const end of ends) if (end.error !== undefined) expectEnding(end, MAY_HAVE_RUN);
      expect([...runs].filter(([, times]) => times > 1)).toEqual([]);
    },
    2 * MINUTE,
  );
});

describe('a call that never was in the pipe', () => {
  it('is sent again, however many wait; the one that was cut off is not', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await owned.ready();
    const first = server.server();
    process.kill(first, 'SIGSTOP');
    const cut = append(owned, 'cut', 5_000_000);
    const behind = Array.from({ length: 300 }, (_, n) => append(owned, `behind${n}`, 10_000));
    await new Promise((resolve) => setImmediate(resolve));
    process.kill(first, 'SIGKILL');
    const end = await cut;
    expectEnding(end, { unknown: 'request-cut' });
    expect(end.error).toMatchObject({ evidence: { process: { signal: 'SIGKILL' } } });
    for (const each of await Promise.all(behind)) expectEnding(each, 'answered');
    const runs = runsByKey(server);
    expect(runs.get('cut')).toBeUndefined();
    expect(runs.size).toBe(300);
    expect([...runs].filter(([, times]) => times > 1)).toEqual([]);
    expect(server.ledger.count('spawn')).toBe(2);
  });

  it('is sent again although a grandchild holds the pipes', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await callTool(owned, 'spawnGrandchild', {});
    const first = server.server();
    process.kill(first, 'SIGSTOP');
    const cut = append(owned, 'cut', 5_000_000);
    const behind = append(owned, 'behind', 10);
    await new Promise((resolve) => setImmediate(resolve));
    process.kill(first, 'SIGKILL');
    expectEnding(await cut, { unknown: 'request-cut' });
    expectEnding(await behind, 'answered');
    expect(server.ledger.runs('behind')).toBe(1);
    expect(server.ledger.runs('cut')).toBe(0);
  });
});

it('hundreds of calls that are not written add no listener for each', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  await using first = stdioServer();
  await using second = stdioServer();
  const both = [
    { server: first, owned: own(stdio(first)) },
    { server: second, owned: own(stdio(second)) },
  ];
  await Promise.all(both.map(({ owned }) => owned.ready()));
  const calls = both.map(({ server, owned }) => {
    process.kill(server.server(), 'SIGSTOP');
    return [append(owned, 'cut', 5_000_000), ...Array.from({ length: 300 }, () => append(owned, 'x', 10))];
  });
  await new Promise((resolve) => setImmediate(resolve));
  for (const { server } of both) process.kill(server.server(), 'SIGKILL');
  await Promise.all(calls.flat());
  await Promise.all(both.map(({ owned }) => owned[Symbol.asyncDispose]()));
  process.off('warning', note);
  expect(warnings).toEqual([]);
  expect(first.ledger.runs('x') + second.ledger.runs('x')).toBe(600);
});
