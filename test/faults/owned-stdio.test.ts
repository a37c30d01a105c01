// Owned, stdio: how a child can be lost, and what its calls learn.

import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { killAndSee } from '../support/kill-and-see.ts';
import { callTool, expectEnding, type Owned, own, settled, stdio } from '../support/owned.ts';
import { isAlive, untilGone } from '../support/processes.ts';
import { type StdioServer, stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const replay = { tools: { read: 'safe' } } as const;
const spawns = (server: StdioServer) => server.ledger.count('spawn');

async function closeStdin(owned: Owned, server: StdioServer): Promise<void> {
  await callTool(owned, 'closeStdin', {});
  await until(() => !existsSync(`/proc/${server.server()}/fd/0`), { what: 'the end of stdin' });
}

describe('the child dies', () => {
  it('while idle: the next call is sent to a new one', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await owned.ready();
    process.kill(server.server(), 'SIGKILL');
    await until(() => owned.handle.state === 'lost');
    expect(spawns(server), 'nobody wanted another yet').toBe(1);
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(spawns(server)).toBe(2);
    expect(server.ledger.initializes()).toBe(2);
    expect(owned.handle.generation).toBe(2);
  });

  it('while idle, `eager`: a new one is started without any call', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server), { recovery: { recreate: 'eager' } });
    await owned.ready();
    process.kill(server.server(), 'SIGKILL');
    await until(() => owned.handle.generation === 2);
    expect(server.ledger.initializes()).toBe(2);
  });

  it('before the call is written: the failed write proves it unrun', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await owned.ready();
    killAndSee(server.server());
    expect(owned.handle.state, 'it cannot know yet').toBe('ready');
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.requests('tools/call')).toBe(1);
    expect(spawns(server)).toBe(2);
  });

  it('in the same tick as the call', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await owned.ready();
    const call = settled(callTool(owned, 'append', { key: 'x' }));
    process.kill(server.server(), 'SIGKILL');
    const end = await call;
    if (end.error !== undefined) expectEnding(end, { unknown: 'connection-closed' });
    expect(server.ledger.runs('x')).toBeLessThanOrEqual(1);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('later')).toBe(1);
    expect(owned.handle.generation).toBe(2);
  });

  it('in flight: siblings learn it at once; what is safe is sent again', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server), { replay });
    await owned.ready();
    const before = settled(callTool(owned, 'append', { key: 'before', delayMs: MINUTE }, MINUTE));
    const after = settled(callTool(owned, 'append', { key: 'after', holdMs: MINUTE }, MINUTE));
    const read = settled(callTool(owned, 'read', { key: 'r', holdMs: 300 }));
    await until(() => server.ledger.runs('after') === 1 && server.ledger.runs('r') === 1);
    process.kill(server.server(), 'SIGKILL');
    for (const end of [await before, await after]) {
      expectEnding(end, { unknown: 'connection-closed' });
      expect(end.error).toMatchObject({ evidence: { process: { exitCode: null, signal: 'SIGKILL' } } });
      expect(String(end.error)).toContain('SIGKILL');
    }
    expectEnding(await read, 'answered');
    expect(server.ledger.runs('before')).toBe(0);
    expect(server.ledger.runs('after')).toBe(1);
    expect(server.ledger.runs('r')).toBe(2);
    expect(spawns(server)).toBe(2);
    expect(server.ledger.initializes()).toBe(2);
    expect(server.alive()).toEqual([server.server()]);
  });

  it('by its own hand, after the effect: exit code and stderr are in the evidence, env values are not', async () => {
    const secret = 'token-a1b2c3';
    await using server = stdioServer({ stderr: `starting with ${secret}\n` });
    await using owned = own(stdio(server, { API_TOKEN: secret }));
    await owned.ready();
    const end = await settled(callTool(owned, 'exit', { key: 'x', code: 3 }));
    expectEnding(end, { unknown: 'connection-closed' });
    const { evidence } = end.error as { evidence: { process: { exitCode: number; stderr: string } } };
    expect(evidence.process).toMatchObject({ exitCode: 3, signal: null });
    expect(evidence.process.stderr).toContain('fatal: the test server was told to exit');
    expect(evidence.process.stderr).toContain('starting with [redacted]');
    expect(String(end.error)).toContain('code 3');
    expect(
      `${JSON.stringify(end.error)}${String(end.error)}${JSON.stringify(owned.handle.status)}`,
    ).not.toContain(secret);
    expect(server.ledger.runs('x')).toBe(1);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('x')).toBe(1);
  });

  it('while stopped with the call unread: nothing tells that from a run', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await owned.ready();
    process.kill(server.server(), 'SIGSTOP');
    const call = settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
    await new Promise((resolve) => setTimeout(resolve, 50)); // it has been written
    process.kill(server.server(), 'SIGKILL');
    expectEnding(await call, { unknown: 'connection-closed' });
    expect(server.ledger.runs('x')).toBe(0);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('later')).toBe(1);
  });

  it('of an answer that is too large: the call ran', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await owned.ready();
    const end = await settled(callTool(owned, 'huge', { key: 'x', bytes: 11_000_000 }));
    expectEnding(end, { unknown: 'connection-closed' });
    expect(server.ledger.runs('x')).toBe(1);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('later')).toBe(1);
    expect(spawns(server)).toBe(2);
    await until(() => server.alive().length === 1, { what: 'the end of the first child' });
  });
});

describe('the child lives', () => {
  it('and says garbage: no loss', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await callTool(owned, 'garbage', { key: 'x' });
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs()).toBe(2);
    expect(spawns(server)).toBe(1);
    expect(owned.handle.generation).toBe(1);
  });

  it('and is stopped: a timeout is no loss, and the call is not sent again though it runs later', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server), { liveness: { probeTimeoutMs: 20_000 } });
    await owned.ready();
    process.kill(server.server(), 'SIGSTOP');
    const end = await settled(callTool(owned, 'append', { key: 'x' }, 200));
    expectEnding(end, { passes: { name: 'McpError', code: -32001 } });
    expect(server.ledger.runs('x')).toBe(0);
    process.kill(server.server(), 'SIGCONT');
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.requests('ping'), 'one probe').toBe(1);
    expect(spawns(server)).toBe(1);
    expect(owned.handle.generation).toBe(1);
  });

  it('and stays stopped: probes that are not answered, and silence, are the loss', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server), {
      liveness: { probeTimeoutMs: 100, missedProbes: 2, busySilenceMs: 500 },
    });
    await owned.ready();
    const first = server.server();
    process.kill(first, 'SIGSTOP');
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' }, 200)), { passes: { code: -32001 } });
    await until(() => owned.handle.state === 'lost');
    expect(owned.transitions.at(-1)).toEqual({ to: 'lost', cause: 'timeout' });
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('later')).toBe(1);
    expect(spawns(server)).toBe(2);
    expect(isAlive(first), 'gone before the next was spawned').toBe(false);
    expect(server.ledger.runs('x')).toBe(0);
  });

  it('but has closed its stdin: the failed write proves the call unrun, within 250 ms', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server));
    await closeStdin(owned, server);
    const first = server.server();
    const written = Date.now();
    let lostAt = 0;
    owned.handle.on('lost', ({ at, cause }) => {
      lostAt = at;
      expect(cause).toBe('unwritten');
    });
    await callTool(owned, 'append', { key: 'x' }, MINUTE);
    expect(lostAt - written).toBeLessThanOrEqual(250);
    expect(server.ledger.runs('x')).toBe(1);
    expect(spawns(server)).toBe(2);
    await untilGone(first, 8_000);
  });

  it('but has closed its stdin, and may not be replaced: the call did not run', async () => {
    await using server = stdioServer();
    await using owned = own(stdio(server), { replay: { tools: { append: 'never' } } });
    await closeStdin(owned, server);
    const end = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
    expect(end.error).toMatchObject({ name: 'ConnectionUnavailableError', evidence: { execution: 'none' } });
    expect(server.ledger.runs('x')).toBe(0);
    await callTool(owned, 'append', { key: 'later' }).catch(() =>
      callTool(owned, 'append', { key: 'later' }),
    );
    expect(server.ledger.runs('later')).toBe(1);
  });
});
