// Owned, Streamable HTTP: close() lets calls finish, ends the session with one DELETE, and then nothing is sent.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyAction, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

describe('DELETE', () => {
  it('is sent once, with the session that it ends', async () => {
    await using owned = own(http(server.url));
    await owned.ready();
    const sessions = await server.sessionIds();
    server.ledger.clear();
    await Promise.all([owned.handle.close(), owned.handle.close()]);
    await owned.handle.close();
    expect(server.ledger.events('delete')).toMatchObject([{ session: sessions.at(-1), status: 200 }]);
    expect(owned.handle.state).toBe('closed');
    expect(await server.sessions()).toBe(sessions.length - 1);
    await until(async () => (await server.streams()) === 0);
  });

  const refusals: [string, ProxyAction][] = [
    ['405', { kind: 'answer', status: 405, forwarded: false }],
    ['404', { kind: 'answer', status: 404, forwarded: false }],
    ['500', { kind: 'answer', status: 500, forwarded: false }],
    ['a reset', { kind: 'cut', how: 'rst', forwarded: false }],
    ['nothing at all', { kind: 'swallow', forwarded: false }],
  ];
  it.each(refusals)('answered with %s: sent once, close() ends in bounded time', async (_name, action) => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { timeouts: { closeTimeoutMs: 300 } });
    await callTool(owned, 'append', { key: 'x' });
    proxy.always('DELETE', action);
    const begun = performance.now();
    await owned.handle.close();
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(proxy.deletes).toBe(1);
    expect(owned.handle.state).toBe('closed');
  });

  it('is sent for each session that was left, and for none that the server has forgotten', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    await owned.handle.reconnect();
    await until(() => proxy.deletes === 1);
    await server.evict();
    await callTool(owned, 'append', { key: 'x' });
    expect(owned.handle.generation).toBe(3);
    await owned.handle.close();
    expect(proxy.deletes, 'of generations 1 and 3').toBe(2);
    expect(await server.sessions()).toBe(0);
  });

  it('is not sent where there is no session', async () => {
    await using stateless = await startServer({ transport: 'stateless' });
    await using owned = own(http(stateless.url));
    await callTool(owned, 'append', { key: 'x' });
    await owned.handle.close();
    expect(stateless.ledger.deletes()).toBe(0);
  });

  it('is not waited for when the server is down', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    await proxy.refuse();
    const begun = performance.now();
    await owned.handle.close();
    expect(performance.now() - begun).toBeLessThan(3_000);
    await proxy.reopen();
  });
});

describe('calls', () => {
  it('in flight finish first; those that come meanwhile are refused, and sent nowhere', async () => {
    await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 10_000 } });
    await owned.ready();
    server.ledger.clear();
    const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 500 }));
    await until(() => server.ledger.runs('x') === 1);
    const closing = owned.handle.close();
    expect(owned.handle.state).toBe('closing');
    const { error } = await settled(callTool(owned, 'append', { key: 'late' }));
    expect(error).toMatchObject({ name: 'ConnectionClosedError', code: 'closed', connection: 'files' });
    expectEnding(await call, 'answered');
    await closing;
    expect(server.ledger.count('request', ({ key }) => key === 'late')).toBe(0);
    expect(server.ledger.events('delete')).toHaveLength(1);
  });

  it('that take longer than drainTimeoutMs are cut off, and know that they may have run', async () => {
    await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 100 } });
    await owned.ready();
    server.ledger.clear();
    const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 60_000 }, 60_000));
    await until(() => server.ledger.runs('x') === 1);
    const begun = performance.now();
    await owned.handle.close();
    expect(performance.now() - begun).toBeLessThan(3_000);
    expectEnding(await call, { unknown: ['connection-closed', 'answer-lost', 'closed'] });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.deletes()).toBe(1);
  });

  it('after close() fail at once; nothing is sent, also when a lost server comes back', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { recovery: { recreate: 'eager', maxAttempts: 1_000 } });
    await until(() => proxy.openStreams === 1);
    await proxy.refuse();
    const waiting = settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    await until(() => owned.handle.state === 'recreating');
    await owned.handle.close();
    expect((await waiting).error).toMatchObject({ name: 'ConnectionClosedError' });
    const connections = proxy.connections;
    await proxy.reopen();
    const methods = [
      () => owned.handle.listTools(),
      () => owned.handle.ping(),
      () => callTool(owned, 'append', { key: 'x' }),
      () => owned.handle.reconnect(),
    ];
    for (const method of methods) {
      expect((await settled(method())).error).toMatchObject({ name: 'ConnectionClosedError' });
    }
    // The SDK would open the GET stream again after 1 s.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(proxy.connections).toBe(connections);
    expect(server.ledger.runs('x')).toBeLessThanOrEqual(1);
  });

  it('of another connection are not delayed', async () => {
    await using other = own(http(server.url));
    await using owned = own(http(server.url), { timeouts: { drainTimeoutMs: 10_000 } });
    await Promise.all([owned.ready(), other.ready()]);
    server.ledger.clear();
    const call = settled(callTool(owned, 'append', { key: 'x', holdMs: 1_500 }));
    await until(() => server.ledger.runs('x') === 1);
    const closing = owned.handle.close();
    expectEnding(await settled(callTool(other, 'append', { key: 'other' })), 'answered');
    expect(owned.handle.state, 'the other is still draining').toBe('closing');
    await closing;
    expectEnding(await call, 'answered');
  });
});

it('twenty recreations leave one session and one stream', async () => {
  await using crowded = await startServer();
  await using owned = own(http(crowded.url));
  await owned.ready();
  for (let n = 0; n < 20; n++) await owned.handle.reconnect();
  await until(async () => (await crowded.sessions()) === 1);
  await until(async () => (await crowded.streams()) <= 1);
  expect(crowded.ledger.initializes()).toBe(21);
  await owned.handle.close();
  expect(crowded.ledger.deletes()).toBe(21);
  expect(await crowded.sessions()).toBe(0);
  expect(await crowded.streams()).toBe(0);
});
