// Failures that people reported: processes that survive, crashes, leaks, closes. One test for each row, by its id.
import { describe, expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { startProxy } from '../support/fault-proxy.ts';
import { callTool, http, own, settled, stdio } from '../support/owned.ts';
import { untilGone } from '../support/processes.ts';
import { connectV1 } from '../support/raw-client.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

// Case 77, too: every test of every file of this kind fails on an unhandled rejection.
expectNoCrashes();
const shared = sharedServer();

it('case 73: a wrapper, its server and a grandchild: none survives three reconnects and a close', async () => {
  await using server = stdioServer({ wrapper: 'exec-child' });
  await using owned = own(stdio(server), { recovery: { maxAttempts: 10, initialBackoffMs: 1 } });
  for (let round = 0; round < 3; round++) {
    await callTool(owned, 'spawnGrandchild', { key: 'g' });
    await owned.handle.reconnect();
  }
  await callTool(owned, 'spawnGrandchild', { key: 'g' });
  expect(server.pids().length, 'leader, server and grandchild of four generations').toBe(12);
  await owned.handle.close();
  await until(() => server.alive().length === 0, { timeoutMs: 8_000 });
});

it('case 76: a child that dies between the answer to initialize and `initialized`: refused, and no crash', async () => {
  await using server = stdioServer({
    faults: [{ on: 'initialize', kind: 'exit', when: 'after', times: 'always' }],
  });
  await using owned = own(stdio(server), {
    recovery: { maxAttempts: 3, initialBackoffMs: 1, maxBackoffMs: 1, coolDownMs: 60_000 },
  });
  const codes = new Set<unknown>();
  await until(async () => {
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
    codes.add((error as { code?: unknown }).code);
    return codes.has('unavailable');
  });
  // A call that was written before the death showed may have run, for all that is known.
  expect([...codes].filter((code) => code !== 'unavailable' && code !== 'outcome-unknown')).toEqual([]);
  expect(server.ledger.count('spawn')).toBe(3);
  expect(server.ledger.runs()).toBe(0);
  await until(() => server.alive().length === 0);
});

it('case 77: a stream that is cut, in a call and idle, crashes nothing', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()), { recovery: { recreate: 'eager', maxAttempts: 100 } });
  await until(() => proxy.openStreams === 1);
  for (const how of ['rst', 'fin', 'eof'] as const) proxy.dropStreams(how);
  proxy.next('tools/call', { kind: 'cut-after-headers', how: 'rst' });
  const { error } = await settled(callTool(owned, 'append', { key: 'cut' }));
  expect(error).toMatchObject({ code: 'outcome-unknown' });
  await callTool(owned, 'append', { key: 'next' });
  expect([server.ledger.runs('cut'), server.ledger.runs('next')]).toEqual([1, 1]);
});

describe('case 79: DELETE', () => {
  it.each([undefined, 405, 404, 500])(
    'an owned close sends exactly one; answered with %s',
    async (status) => {
      const server = shared();
      await using owned = own(http(server.url));
      await owned.ready();
      if (status !== undefined) await server.fault({ on: 'DELETE', kind: 'status', status });
      await owned.handle.close();
      expect(server.ledger.events('delete')).toMatchObject([
        { status: status ?? 200, session: server.ledger.events('initialize')[0]?.session },
      ]);
    },
  );

  it('that is never answered is not waited for without bound', async () => {
    const server = shared();
    await using owned = own(http(server.url), { timeouts: { closeTimeoutMs: 150 } });
    await owned.ready();
    await server.fault({ on: 'DELETE', kind: 'never' });
    const begun = performance.now();
    await owned.handle.close();
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(server.ledger.count('fault', ({ on }) => on === 'DELETE')).toBe(1);
  });

  it('is sent for each generation that the server still had, and for none that it had forgotten', async () => {
    const server = shared();
    await using owned = own(http(server.url));
    await owned.ready();
    await owned.handle.reconnect();
    await until(() => server.ledger.deletes() === 1);
    await server.evict();
    await callTool(owned, 'append', { key: 'x' });
    await owned.handle.close();
    const [first, , third] = server.ledger.events('initialize').map(({ session }) => session);
    expect(server.ledger.events('delete').map(({ session }) => session)).toEqual([first, third]);
  });

  it('is never sent for a caller’s session', async () => {
    const server = shared();
    await using raw = await connectV1(server);
    await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
    const handle = supervisor.adopt('mine', raw.client);
    await handle.ping();
    await handle.close();
    await raw.client.ping();
    expect([server.ledger.deletes(), raw.closes, await server.sessions()]).toEqual([0, 0, 1]);
    await raw.transport.terminateSession?.();
  });
});

it('case 81: a hundred calls that fail leave one connection', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  const before = await server.sockets();
  for (let n = 0; n < 100; n++) {
    await settled(
      n % 2 ? callTool(owned, 'fails', {}) : callTool(owned, 'rpcError', { code: -32603, message: 'no' }),
    );
  }
  expect(server.ledger.runs()).toBe(100);
  expect([await server.sessions(), server.ledger.initializes(), owned.handle.status.inFlight]).toEqual([
    1, 1, 0,
  ]);
  expect(await server.sockets()).toBeLessThanOrEqual(before + 2);
});

it('case 82: close() lets a call finish within the drain, and then cuts it', async () => {
  const server = shared();
  await using quick = own(http(server.url));
  await using stuck = own(http(server.url), { timeouts: { drainTimeoutMs: 150 } });
  await Promise.all([quick.ready(), stuck.ready()]);
  const answered = settled(callTool(quick, 'append', { key: 'quick', holdMs: 300 }));
  const cut = settled(callTool(stuck, 'append', { key: 'stuck', holdMs: 60_000 }, 60_000));
  await until(() => server.ledger.runs() === 2);
  await Promise.all([quick.handle.close(), stuck.handle.close()]);
  expect((await answered).error).toBeUndefined();
  const { error, ms } = await cut;
  expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { execution: 'unknown' } });
  expect(ms).toBeLessThan(5_000);
  expect(server.ledger.deletes()).toBe(2);
});

it('case 83: a server that will not end: close() settles by its limit, and the child is killed', async () => {
  await using server = stdioServer({ stubborn: true });
  await using owned = own(stdio(server), { timeouts: { closeTimeoutMs: 500, drainTimeoutMs: 100 } });
  await owned.ready();
  const pid = server.server();
  const begun = performance.now();
  await owned.handle.close();
  expect(performance.now() - begun, 'a limit for each step, and slack').toBeLessThan(5_000);
  expect(owned.handle.state).toBe('closed');
  await untilGone(pid, 8_000);
  expect(server.ledger.count('sigterm'), 'it was asked first').toBe(1);
});
