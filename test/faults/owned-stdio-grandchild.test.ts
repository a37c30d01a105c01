// Owned, stdio: the leader is dead and `close` never comes, because a grandchild holds its pipes.

import { describe, expect, it } from 'vitest';
import { killAndSee } from '../support/kill-and-see.ts';
import { callTool, expectEnding, own, settled, stdio } from '../support/owned.ts';
import { isAlive, untilGone } from '../support/processes.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;

describe('the leader dies while a grandchild holds the pipe', () => {
  it('the call in flight is settled within 250 ms, the next one works, and the grandchild goes', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await callTool(owned, 'spawnGrandchild', {});
    const call = settled(callTool(owned, 'append', { key: 'x', holdMs: MINUTE }, MINUTE));
    await until(() => server.ledger.runs('x') === 1);
    const grandchild = server.grandchild();
    killAndSee(server.server());
    const dead = Date.now();
    const end = await call;
    expect(end.at - dead).toBeLessThanOrEqual(250);
    expectEnding(end, { unknown: 'connection-closed' });
    expect(end.error).toMatchObject({ evidence: { process: { signal: 'SIGKILL' } } });
    expect(server.ledger.runs('x')).toBe(1);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('later')).toBe(1);
    await untilGone(grandchild, 8_000);
    expect(server.alive()).toEqual([server.server()]);
  });

  it('a later end of the old pipe does not touch the new generation', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await callTool(owned, 'spawnGrandchild', {});
    const grandchild = server.grandchild();
    await owned.handle.reconnect();
    expect(owned.handle.generation).toBe(2);
    const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 500 }));
    await until(() => server.ledger.runs('x') === 1);
    if (isAlive(grandchild)) process.kill(grandchild, 'SIGKILL');
    expectEnding(await call, 'answered');
    await untilGone(grandchild);
    await callTool(owned, 'append', { key: 'later' });
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 2 });
    expect(server.ledger.initializes()).toBe(2);
  });
});
