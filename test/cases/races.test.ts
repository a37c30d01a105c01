// Failures that people reported: races between calls, reconnects and closes. One test for each row, by its id.
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, stdio } from '../support/owned.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();

it('case 51: two calls that are dropped together: one new session, and both settle', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  await server.evict();
  await Promise.all([callTool(owned, 'append', { key: 'a' }), callTool(owned, 'append', { key: 'b' })]);
  expect([server.ledger.runs('a'), server.ledger.runs('b'), server.ledger.initializes()]).toEqual([1, 1, 2]);
});

it('case 53: the late failure of B does not tear down the session that A got', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  await server.fault({ kind: 'hold' });
  const b = callTool(owned, 'append', { key: 'b' });
  await until(() => server.ledger.count('fault') === 1);
  await server.evict();
  await callTool(owned, 'append', { key: 'a' });
  expect(owned.handle.generation).toBe(2);
  await server.release();
  await b;
  await callTool(owned, 'append', { key: 'after' });
  expect(['a', 'b', 'after'].map((key) => server.ledger.runs(key))).toEqual([1, 1, 1]);
  expect([server.ledger.initializes(), owned.handle.generation, await server.sessions()]).toEqual([2, 2, 1]);
});

it('case 55: a call that comes in the middle of a reconnect waits for it', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 1_000 } });
  await owned.ready();
  await proxy.refuse();
  const first = callTool(owned, 'append', { key: 'first' });
  await until(() => owned.handle.state === 'recreating');
  const second = callTool(owned, 'append', { key: 'second' });
  expect(owned.handle.status.waiting).toBe(2);
  const hasty = await settled(callTool(owned, 'append', { key: 'hasty' }, 50));
  expect(hasty.error, 'within its own deadline').toMatchObject({ code: 'unavailable' });
  await proxy.reopen();
  await Promise.all([first, second]);
  expect(['first', 'second', 'hasty'].map((key) => server.ledger.runs(key))).toEqual([1, 1, 0]);
});

it('cases 56 and 57: a reconnect lets a sibling complete; its slow close holds nobody up for longer than its limit', async () => {
  const server = shared();
  await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 10_000, closeTimeoutMs: 300 } });
  await owned.ready();
  const sibling = settled(callTool(owned, 'append', { key: 'sibling', holdMs: 500 }));
  await until(() => server.ledger.runs('sibling') === 1);
  await server.fault({ on: 'DELETE', kind: 'hold' });
  const reconnected = owned.handle.reconnect();
  const meanwhile = callTool(owned, 'append', { key: 'meanwhile' });
  expect(owned.handle.status).toMatchObject({ state: 'recreating', inFlight: 1, waiting: 1 });
  expect((await sibling).error).toBeUndefined();
  await until(() => server.ledger.count('fault', ({ on }) => on === 'DELETE') === 1);
  expect(server.ledger.initializes(), 'not before the old session was to end').toBe(1);
  await Promise.all([reconnected, meanwhile]);
  expect([owned.handle.generation, server.ledger.initializes()]).toEqual([2, 2]);
  await server.release();
  const [old, current] = server.ledger.events('initialize').map(({ session }) => session);
  await until(async () => !(await server.sessionIds()).includes(String(old)), {
    what: 'the end of the old one',
  });
  expect(await server.sessionIds()).toContain(current);
  expect(['sibling', 'meanwhile'].map((key) => server.ledger.runs(key))).toEqual([1, 1]);
});

it('case 58: three calls that connect start one child', async () => {
  await using server = stdioServer();
  await using owned = own(stdio(server), { lazy: true });
  expect(server.ledger.count('spawn')).toBe(0);
  await Promise.all(['a', 'b', 'c'].map((key) => callTool(owned, 'append', { key })));
  expect([server.ledger.count('spawn'), server.ledger.runs()]).toEqual([1, 3]);
});

it('cases 58 and 62: a close in the middle of a handshake rejects all, and leaves no child and no heartbeat', async () => {
  await using server = stdioServer({ faults: [{ on: 'initialize', kind: 'never', times: 'always' }] });
  await using owned = own(stdio(server), { lazy: true, liveness: { heartbeatMs: 10 } });
  const calls = ['a', 'b', 'c'].map((key) => settled(callTool(owned, 'append', { key })));
  await until(() => server.ledger.requests('initialize') === 1);
  await owned.handle.close();
  for (const { error } of await Promise.all(calls)) expect(error).toMatchObject({ code: 'closed' });
  await until(() => server.alive().length === 0);
  expect([server.ledger.count('spawn'), server.ledger.requests('ping')]).toEqual([1, 0]);
});

it('case 59: a handshake that fails leaves no child', async () => {
  await using server = stdioServer({ faults: [{ on: 'initialize', kind: 'never', times: 'always' }] });
  await using owned = own(stdio(server), {
    timeouts: { connectTimeoutMs: 500 },
    recovery: { maxAttempts: 1 },
  });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
  expect(error).toMatchObject({ code: 'unavailable', evidence: { cause: 'timeout' } });
  await until(() => server.alive().length === 0, { timeoutMs: 6_000 });
});

it('case 59: a handshake that fails late, or succeeds too late, leaves no session and no socket', async () => {
  await using server = await startServer({
    faults: [{ on: 'notifications/initialized', kind: 'hold' }],
  });
  await using owned = own(http(server.url), {
    timeouts: { connectTimeoutMs: 300 },
    recovery: { maxAttempts: 1 },
  });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
  expect(error).toMatchObject({ code: 'unavailable', evidence: { cause: 'timeout' } });
  await until(() => server.ledger.deletes() === 1, { what: 'the end of the half-made session' });
  await server.release();
  expect(await server.sessions()).toBe(0);
  expect([owned.handle.state, owned.handle.generation]).toEqual(['exhausted', 0]);
  await owned.handle.close();
  await until(async () => (await server.streams()) === 0);
  expect([server.ledger.initializes(), server.ledger.runs()]).toEqual([1, 0]);
});

it('case 60: a stray call on a closed handle opens nothing; its sibling is unaffected', async () => {
  const server = shared();
  await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const [closed, sibling] = ['closed', 'sibling'].map((name) =>
    supervisor.own(name, { transport: http(server.url) }),
  );
  await Promise.all([closed!.ping(), sibling!.ping()]);
  await closed!.close();
  const requests = server.ledger.count('request');
  for (let stray = 0; stray < 3; stray++) {
    await expect(closed!.callTool({ name: 'append' })).rejects.toMatchObject({ code: 'closed' });
  }
  expect(server.ledger.count('request')).toBe(requests);
  await sibling!.ping();
  expect([sibling!.state, sibling!.generation, server.ledger.initializes()]).toEqual(['ready', 1, 2]);
});

it('case 63: the trial after the cool-down is a real dial', async () => {
  await using server = await startServer({
    faults: [{ on: 'initialize', kind: 'status', status: 502, times: 2 }],
  });
  await using owned = own(http(server.url), { recovery: { maxAttempts: 1, coolDownMs: 30 } });
  await until(() => owned.handle.state === 'exhausted');
  expect(server.ledger.requests('initialize')).toBe(1);
  // Refused while it cools; then one call is the trial, which fails; then another, which succeeds.
  const outcomes: unknown[] = [];
  await until(async () => {
    const { error } = await settled(callTool(owned, 'append', { key: 'trial' }));
    outcomes.push(error);
    return error === undefined;
  });
  expect(server.ledger.requests('initialize')).toBe(3);
  expect(server.ledger.runs('trial')).toBe(1);
  expect(outcomes.length).toBeGreaterThan(1);
});

it('case 64: a close that fails hinders neither the new generation nor another connection', async () => {
  const server = shared();
  await using owned = own(http(server.url), { timeouts: { closeTimeoutMs: 200 } });
  await using healthy = own(http(server.url));
  await Promise.all([owned.ready(), healthy.ready()]);
  await server.fault({ on: 'DELETE', kind: 'status', status: 500 }, { on: 'DELETE', kind: 'never' });
  for (let generation = 2; generation <= 3; generation++) {
    await owned.handle.reconnect();
    await callTool(owned, 'append', { key: 'x' });
    expect(owned.handle.generation).toBe(generation);
  }
  await callTool(healthy, 'append', { key: 'y' });
  expect([healthy.handle.generation, server.ledger.initializes()]).toEqual([1, 4]);
});

it('case 68: closing A, which drains a slow call, delays nothing of B', async () => {
  const server = shared();
  await using a = own(http(server.url), { timeouts: { drainTimeoutMs: 5_000 } });
  await using b = own(http(server.url));
  await Promise.all([a.ready(), b.ready()]);
  const slow = settled(callTool(a, 'append', { key: 'slow', holdMs: 1_000 }));
  await until(() => server.ledger.runs('slow') === 1);
  const closing = a.handle.close();
  for (let call = 0; call < 5; call++) await callTool(b, 'append', { key: 'b' });
  expect(a.handle.state, 'B was served while A drained').toBe('closing');
  expect((await slow).error).toBeUndefined();
  await closing;
  expect([server.ledger.runs('slow'), server.ledger.runs('b')]).toEqual([1, 5]);
});
