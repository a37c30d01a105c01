// Owned, legacy SSE: one stream carries every answer, and the SDK heals it onto a session that nobody initialised.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, expectEnding, own, settled, sse } from '../support/owned.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const replay = { tools: { read: 'safe' } } as const;
const recovery = { maxAttempts: 500, maxBackoffMs: 20 };
const legacy = { transport: 'sse' } as const;

describe('the stream ends', () => {
  it('restart, and a call at once: a real new generation', async () => {
    await using server = await startServer(legacy);
    await using owned = own(sse(server.url), { recovery });
    await callTool(owned, 'append', { key: 'first' });
    await server.restart();
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(2);
    expect(server.ledger.count('initialized')).toBe(2);
    expect(owned.handle.generation).toBe(2);
  });

  it('killed in flight: settled at once; what is safe is sent again', async () => {
    await using server = await startServer(legacy);
    await using owned = own(sse(server.url), { recovery, replay });
    await owned.ready();
    const before = settled(callTool(owned, 'append', { key: 'before', delayMs: MINUTE }, MINUTE));
    const after = settled(callTool(owned, 'append', { key: 'after', holdMs: MINUTE }, MINUTE));
    const read = settled(callTool(owned, 'read', { key: 'r', holdMs: 500 }));
    await until(() => server.ledger.runs('after') === 1 && server.ledger.runs('r') === 1);
    await until(() => server.ledger.count('call', ({ key }) => key === 'before') === 1);
    await server.kill();
    const killed = Date.now();
    for (const end of [await before, await after]) {
      expectEnding(end, { unknown: ['answer-lost', 'stream-ended'] });
      expect(end.at - killed).toBeLessThanOrEqual(250);
    }
    await server.start();
    expectEnding(await read, 'answered');
    expect(server.ledger.runs('before')).toBe(0);
    expect(server.ledger.runs('after')).toBe(1);
    expect(server.ledger.runs('r')).toBe(2);
    expect(server.ledger.initializes()).toBe(2);
  });

  it('evicted in flight: settled within 250 ms, and the next call works', async () => {
    await using server = await startServer(legacy);
    await using owned = own(sse(server.url), { recovery });
    await owned.ready();
    const end = await settled(callTool(owned, 'evictMe', { key: 'e', holdMs: 3_000 }, MINUTE));
    expectEnding(end, { unknown: ['answer-lost', 'stream-ended'] });
    expect(end.at - server.ledger.events('evicted')[0]!.at).toBeLessThanOrEqual(250);
    expect(server.ledger.runs('e')).toBe(1);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('later')).toBe(1);
    expect(server.ledger.initializes()).toBe(2);
  });

  it.each([401, 404, 500])(
    'and the way back is answered with %i: the error says so, then it works',
    async (status) => {
      await using server = await startServer(legacy);
      await using owned = own(sse(server.url), { recovery: { maxAttempts: 2, coolDownMs: 0 } });
      await owned.ready();
      await server.fault({ on: 'GET', kind: 'status', status, times: 'always' });
      await server.evict();
      const end = await settled(callTool(owned, 'append', { key: 'x' }));
      expect(end.error).toMatchObject({
        name: 'ConnectionUnavailableError',
        evidence: { execution: 'none' },
      });
      if (status === 401) {
        expect(end.error).toMatchObject({ evidence: { cause: 'unauthorized' } });
        expect(owned.handle.status.action).toContain('credentials');
      }
      expect(server.ledger.runs('x')).toBe(0);
      await server.clearFaults();
      await owned.handle.reconnect();
      await callTool(owned, 'append', { key: 'later' });
      expect(server.ledger.runs('later')).toBe(1);
      expect(server.ledger.initializes()).toBe(2);
    },
  );
});

describe('the stream lives', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(legacy);
  });
  beforeEach(() => server.ledger.clear());
  afterAll(() => server[Symbol.asyncDispose]());

  it('a session that is unknown to POSTs: the 404 is a loss', async () => {
    await using owned = own(sse(server.url), { recovery });
    await owned.ready();
    await server.evict(undefined, { silent: true });
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(2);
    expect(owned.handle.generation).toBe(2);
  });

  it('a POST is reset after it ran: outcome unknown, the session goes on', async () => {
    await using owned = own(sse(server.url), { recovery, replay });
    await owned.ready();
    await server.fault({ kind: 'reset', when: 'after' });
    expectEnding(await settled(callTool(owned, 'append', { key: 'x', holdMs: 300 })), {
      unknown: 'request-cut',
    });
    expect(server.ledger.runs('x')).toBe(1);
    await server.fault({ kind: 'reset', when: 'after' });
    expectEnding(await settled(callTool(owned, 'read', { key: 'r', holdMs: 300 })), 'answered');
    expect(server.ledger.runs('r')).toBe(2);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle.generation).toBe(1);
  });

  it.each([401, 403, 429, 503])('a POST is answered with %i: no loss', async (status) => {
    await using owned = own(sse(server.url), { recovery });
    await owned.ready();
    await server.fault({ kind: 'status', status });
    const message = expect.stringContaining(`(HTTP ${status})`);
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), { passes: { message } });
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('x')).toBe(0);
    expect(server.ledger.runs('later')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle.generation).toBe(1);
  });
});

describe('the server is down', () => {
  it('a call waits, and is sent once when it is back', async () => {
    await using server = await startServer(legacy);
    await using owned = own(sse(server.url), { recovery });
    await owned.ready();
    await server.stop();
    const call = settled(callTool(owned, 'append', { key: 'x' }));
    await until(() => owned.handle.state === 'recreating');
    await server.start();
    expectEnding(await call, 'answered');
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(2);
  });

  it('no `endpoint` event: the handshake fails at its own limit and leaves no stream', async () => {
    await using server = await startServer({
      ...legacy,
      faults: [{ on: 'GET', kind: 'sse-silent', times: 'always' }],
    });
    await using owned = own(sse(server.url), {
      recovery: { maxAttempts: 1, coolDownMs: MINUTE },
      timeouts: { connectTimeoutMs: 300 },
    });
    const end = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
    expectEnding(end, { unavailable: 'timeout' });
    expect(end.ms).toBeLessThan(5_000);
    // Not the sockets: after an abort Node's fetch keeps a spare one.
    await until(async () => (await server.streams()) === 0, { what: 'the end of the stream' });
    expect(server.ledger.count('get')).toBe(1);
  });
});

it('close() ends the stream, and sends no DELETE', async () => {
  await using server = await startServer(legacy);
  await using owned = own(sse(server.url));
  await callTool(owned, 'append', { key: 'x' });
  await owned.handle.close();
  await until(async () => (await server.sessions()) === 0);
  expect(await server.streams()).toBe(0);
  expect(server.ledger.deletes()).toBe(0);
  expect(server.ledger.count('stream')).toBe(1);
});

describe.concurrent('the SDK would open another stream after 3 s', () => {
  it('restart while idle: noticed; no call ever reaches a session that was not initialised', async () => {
    await using server = await startServer(legacy);
    await using owned = own(sse(server.url), { recovery: { ...recovery, recreate: 'eager' } });
    await owned.ready();
    await server.restart();
    await until(() => owned.handle.generation === 2);
    expect(server.ledger.initializes()).toBe(2);
    // The old EventSource would be back after 3 s, with a session of its own.
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.count('stream'), 'one stream for each generation').toBe(2);
    expect(server.ledger.initializes()).toBe(2);
    expect(await server.sessions()).toBe(1);
    expect(owned.handle.generation).toBe(2);
  });

  it('a handshake that failed leaves no EventSource that comes back', async () => {
    await using server = await startServer(legacy);
    await using proxy = await startProxy(server.port);
    await proxy.refuse();
    await using owned = own(sse(proxy.url('/sse')), { recovery: { maxAttempts: 2, coolDownMs: MINUTE } });
    await until(() => owned.handle.state === 'exhausted');
    await proxy.reopen();
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    expect(proxy.connections).toBe(0);
    expect(server.ledger.count('stream')).toBe(0);
  });
});
