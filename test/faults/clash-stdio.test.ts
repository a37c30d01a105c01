// Owned, stdio: a server that holds what exists once (a port, a lock file) never meets an older process of its own.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { callTool, type Owned, type OwnedSettings, own, settled, stdio } from '../support/owned.ts';
import { type StdioServer, stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const KINDS = ['lock', 'port'] as const;

/** All processes so far came one after the other. */
function expectNoClash({ ledger }: StdioServer, spawns: number): void {
  expect(ledger.count('clash'), 'met an older process').toBe(0);
  expect(ledger.count('spawn')).toBe(spawns);
}

async function expectAnswered(owned: Owned, server: StdioServer): Promise<void> {
  await callTool(owned, 'append', { key: 'next' });
  expect(server.ledger.runs('next')).toBe(1);
}

describe.concurrent.each(KINDS)('a server that holds a %s', (exclusive) => {
  it('crashes: the next one starts', async () => {
    await using server = stdioServer({ exclusive });
    await using owned = own(stdio(server));
    await owned.ready();
    process.kill(server.server(), 'SIGKILL');
    await until(() => owned.handle.state === 'lost');
    await expectAnswered(owned, server);
    expectNoClash(server, 2);
    expect(owned.handle.generation).toBe(2);
  });

  it('outlives its leader, which crashes: it is killed first, and not asked', async () => {
    await using server = stdioServer({ exclusive, wrapper: 'exec-child', stubborn: true });
    await using owned = own(stdio(server), { timeouts: { closeTimeoutMs: 6_000 } });
    await owned.ready();
    process.kill(server.leader(), 'SIGKILL');
    await until(() => owned.handle.state === 'lost');
    await expectAnswered(owned, server);
    expectNoClash(server, 2);
    expect(server.ledger.count('sigterm'), 'what a crash has left gets no grace').toBe(0);
  });

  it('is left by reconnect(): asked, then killed, before the next one starts', async () => {
    await using server = stdioServer({ exclusive, wrapper: 'exec-child', stubborn: true });
    await using owned = own(stdio(server), { timeouts: { closeTimeoutMs: 4_000 } });
    await owned.ready();
    const [leader, old] = [server.leader(), server.server()];
    await owned.handle.reconnect();
    expect(server.ledger.count('sigterm', ({ pid }) => pid === old)).toBe(1);
    expect(server.alive()).not.toContain(leader);
    await expectAnswered(owned, server);
    expectNoClash(server, 2);
  });

  it('falls silent: killed before the next one starts', async () => {
    await using server = stdioServer({ exclusive });
    await using owned = own(stdio(server), {
      liveness: { heartbeatMs: 50, probeTimeoutMs: 100, missedProbes: 2, silenceMs: 300 },
      recovery: { recreate: 'eager' },
      timeouts: { closeTimeoutMs: 4_000 },
    });
    await owned.ready();
    process.kill(server.server(), 'SIGSTOP');
    await until(() => owned.handle.generation === 2);
    await expectAnswered(owned, server);
    expectNoClash(server, 2);
  });

  it('hangs in its handshake, and again: each is gone before the next one starts', async () => {
    const faults = [{ on: 'initialize', kind: 'never' }] as const;
    await using server = stdioServer({ exclusive, stubborn: true, faults: [...faults] });
    await using owned = own(stdio(server), {
      timeouts: { connectTimeoutMs: 4_000 },
      recovery: { maxAttempts: 2, coolDownMs: 60_000 },
    });
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    expect(error).toMatchObject({ code: 'unavailable', why: 'budget-spent', evidence: { cause: 'timeout' } });
    expectNoClash(server, 2);
  });

  it('outlives its leader, which dies in the handshake: gone before the next one starts', async () => {
    const faults = [{ on: 'initialize', kind: 'never' }] as const;
    await using server = stdioServer({
      exclusive,
      wrapper: 'exec-child',
      leaderExitsAfterMs: 3_000,
      stubborn: true,
      faults: [...faults],
    });
    await using owned = own(stdio(server), { recovery: { maxAttempts: 2, coolDownMs: 60_000 } });
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    expect(error).toMatchObject({ code: 'unavailable', evidence: { cause: 'connection-closed' } });
    expectNoClash(server, 2);
  });
});

it('a descendant has the lock, and its server crashes: gone before the next one starts', async () => {
  await using server = stdioServer({ exclusive: 'lock' });
  await using owned = own(stdio(server));
  await callTool(owned, 'spawnGrandchild', {});
  const grandchild = server.grandchild();
  process.kill(server.server(), 'SIGKILL');
  await until(() => owned.handle.state === 'lost');
  await expectAnswered(owned, server);
  expect(server.alive()).not.toContain(grandchild);
  expectNoClash(server, 2);
});

it('ten calls while it dies: one next process, and each call that did not run runs once', async () => {
  await using server = stdioServer({ exclusive: 'lock' });
  await using owned = own(stdio(server));
  await owned.ready();
  process.kill(server.server(), 'SIGKILL');
  const keys = Array.from({ length: 10 }, (_, n) => `key${n}`);
  const ends = await Promise.all(keys.map((key) => settled(callTool(owned, 'append', { key }))));
  for (const [n, { error }] of ends.entries()) {
    if (error === undefined) expect(server.ledger.runs(keys[n])).toBe(1);
    else expect(error).toMatchObject({ code: 'outcome-unknown' });
  }
  await expectAnswered(owned, server);
  expectNoClash(server, 2);
});

describe('what cannot be killed', () => {
  /** A fake: no process of ours can withstand SIGKILL. Nothing is told to a group until `mend()`. */
  function withoutKill(): { mend(): void } {
    const { kill } = process;
    const stub = vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
      return pid < 0 && signal !== 0 ? true : kill.call(process, pid, signal);
    });
    onTestFinished(() => stub.mockRestore());
    return { mend: () => stub.mockRestore() };
  }

  const stubborn = async (settings: OwnedSettings) => {
    const server = stdioServer({ exclusive: 'lock', stubborn: true });
    const owned = own(stdio(server), { timeouts: { closeTimeoutMs: 200 }, ...settings });
    await owned.ready();
    return { server, owned, pid: server.server() };
  };

  it('is named, and no other is started beside it', async () => {
    const { server, owned, pid } = await stubborn({ recovery: { maxAttempts: 2, coolDownMs: 60_000 } });
    const kill = withoutKill();
    const { error } = await settled(owned.handle.reconnect());
    expect(error).toMatchObject({
      name: 'ConnectionUnavailableError',
      why: 'budget-spent',
      evidence: { cause: 'not-ended', execution: 'none' },
      cause: { message: expect.stringContaining(`pid ${pid}`) },
    });
    expect(String(error)).toContain('has not ended');
    expect(owned.handle.status).toMatchObject({ state: 'exhausted', reason: 'not-ended' });
    expectNoClash(server, 1);

    kill.mend();
    await owned.handle.reconnect();
    await expectAnswered(owned, server);
    expectNoClash(server, 2);
    await owned[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('is tried again, and calls wait for that', async () => {
    const { server, owned } = await stubborn({ recovery: { maxAttempts: 1_000 } });
    const kill = withoutKill();
    const reconnected = settled(owned.handle.reconnect());
    await until(() => owned.handle.status.reason === 'not-ended');
    const hasty = await settled(callTool(owned, 'append', { key: 'hasty' }, 50));
    expect(hasty.error).toMatchObject({ why: 'deadline', evidence: { cause: 'not-ended' } });
    const call = settled(callTool(owned, 'append', { key: 'x' }));
    kill.mend();
    expect((await call).error).toBeUndefined();
    expect((await reconnected).error).toBeUndefined();
    expect([server.ledger.runs('hasty'), server.ledger.runs('x')]).toEqual([0, 1]);
    expectNoClash(server, 2);
    await owned[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('is waited for before the first handshake too', async () => {
    const faults = [{ on: 'initialize', kind: 'never' }] as const;
    const server = stdioServer({ exclusive: 'lock', stubborn: true, faults: [...faults] });
    const kill = withoutKill();
    const owned = own(stdio(server), {
      timeouts: { connectTimeoutMs: 4_000, closeTimeoutMs: 200 },
      recovery: { maxAttempts: 3, coolDownMs: 60_000 },
    });
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    expect(error).toMatchObject({ code: 'unavailable', evidence: { cause: 'not-ended' } });
    expectNoClash(server, 1);
    kill.mend();
    await owned[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
});
