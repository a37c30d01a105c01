// Owned, stdio: after close() the whole process tree is gone, whoever of it died first.

import { describe, expect, it } from 'vitest';
import { callTool, expectEnding, own, settled, stdio } from '../support/owned.ts';
import { untilGone } from '../support/processes.ts';
import { type StdioServerOptions, stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

describe('close()', () => {
  const trees: [string, StdioServerOptions, killLeader: boolean, grandchild: boolean][] = [
    ['a server', {}, false, false],
    ['a server with a grandchild', {}, false, true],
    ['a server behind a leader', { wrapper: 'exec-child' }, false, false],
    ['a server that ignores SIGTERM', { stubborn: true }, false, false],
    ['a stubborn server behind a leader', { wrapper: 'exec-child', stubborn: true }, false, false],
    ['a stubborn server whose leader died first', { wrapper: 'exec-child', stubborn: true }, true, false],
    [
      'a stubborn server with a grandchild whose leader died first',
      { wrapper: 'exec-child', stubborn: true },
      true,
      true,
    ],
  ];
  it.concurrent.each(trees)('ends %s', async (_name, options, killLeader, grandchild) => {
    await using server = stdioServer(options);
    await using owned = own(stdio(server));
    await owned.ready();
    if (grandchild) await callTool(owned, 'spawnGrandchild', {});
    expect(server.alive().length).toBeGreaterThanOrEqual(grandchild ? 2 : 1);
    if (killLeader) {
      process.kill(server.leader(), 'SIGKILL');
      await untilGone(server.leader());
    }
    await owned.handle.close();
    expect(server.alive()).toEqual([]);
    expect(owned.handle.state).toBe('closed');
    expect(server.ledger.count('spawn')).toBe(1);
  });

  it('lets a running call finish first', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server), { timeouts: { drainTimeoutMs: 10_000 } });
    await owned.ready();
    const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 400 }));
    await until(() => server.ledger.runs('x') === 1);
    await owned.handle.close();
    expectEnding(await call, 'answered');
    expect(server.alive()).toEqual([]);
  });

  it('lets it finish for no longer than drainTimeoutMs', async () => {
    await using server = stdioServer({ stubborn: true });
    await using owned = own(stdio(server), { timeouts: { drainTimeoutMs: 100 } });
    await owned.ready();
    const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 60_000 }, 60_000));
    await until(() => server.ledger.runs('x') === 1);
    const begun = performance.now();
    await owned.handle.close();
    expect(performance.now() - begun).toBeLessThan(10_000);
    expectEnding(await call, { unknown: ['connection-closed', 'closed'] });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.alive()).toEqual([]);
  });

  it('three recreations leave one tree, and close() none', async () => {
    await using server = stdioServer({ wrapper: 'exec-child' });
    await using owned = own(stdio(server));
    for (let generation = 1; generation <= 3; generation++) {
      await callTool(owned, 'spawnGrandchild', {});
      await owned.handle.reconnect();
    }
    await until(() => server.alive().length === 2, { timeoutMs: 8_000, what: 'one leader and one server' });
    await owned.handle.close();
    expect(server.alive()).toEqual([]);
    expect(server.ledger.initializes()).toBe(4);
  });
});
