// How often and how long a connection is dialled, and what brings an exhausted one back.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const MINUTE = 60_000;

function breakHandshakes(proxy: FaultProxy, status = 500): void {
  proxy.always('initialize', { kind: 'answer', status, forwarded: false });
}

describe('maxAttempts', () => {
  it('a server that never connects is dialled so often, and then not again', async () => {
    await using proxy = await startProxy(server.port);
    breakHandshakes(proxy);
    await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 3, coolDownMs: MINUTE } });
    const first = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
    expect(first.error).toMatchObject({
      name: 'ConnectionUnavailableError',
      evidence: { execution: 'none' },
      cause: { code: 500 },
    });
    expect(proxy.posts('initialize')).toBe(3);
    expect(owned.handle.state).toBe('exhausted');
    expect(owned.handle.status.action).toContain('reconnect()');

    const refused = await Promise.all([1, 2, 3].map(() => settled(owned.handle.listTools())));
    for (const { error } of refused) expect(error).toMatchObject({ code: 'unavailable' });
    expect(proxy.posts('initialize'), 'not within the cool-down').toBe(3);
    expect(owned.states()).not.toContain('ready');
  });

  it('an answer that no retry can change ends it at once', async () => {
    for (const status of [401, 403, 405]) {
      await using proxy = await startProxy(server.port);
      breakHandshakes(proxy, status);
      await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 5, coolDownMs: MINUTE } });
      const { error } = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
      expect(error).toMatchObject({ code: 'unavailable', cause: { code: status } });
      expect(proxy.posts('initialize')).toBe(1);
    }
  });

  it('one bad answer to initialize is not the end', async () => {
    await using proxy = await startProxy(server.port);
    proxy.next('initialize', { kind: 'answer', status: 502, forwarded: false });
    await using owned = own(http(proxy.url()));
    await callTool(owned, 'append', { key: 'after a 502' });
    expect(server.ledger.runs('after a 502')).toBe(1);
    expect(proxy.posts('initialize')).toBe(2);
    expect(owned.handle.generation).toBe(1);
  });
});

describe('exhausted', () => {
  it('after the cool-down: one trial for a herd, and no more while it cools again', async () => {
    await using proxy = await startProxy(server.port);
    breakHandshakes(proxy);
    await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 2, coolDownMs: 400 } });
    await until(() => owned.handle.state === 'exhausted');
    expect(proxy.posts('initialize')).toBe(2);
    // A demand within the cool-down is refused; the first one after it is served.
    await until(async () => {
      const herd = Array.from({ length: 10 }, () => settled(owned.handle.listTools()));
      for (const { error } of await Promise.all(herd)) expect(error).toMatchObject({ code: 'unavailable' });
      return proxy.posts('initialize') > 2;
    });
    expect(proxy.posts('initialize')).toBe(3);

    proxy.reset();
    await until(async () => (await settled(owned.handle.listTools())).error === undefined);
    expect(proxy.posts('initialize')).toBe(4);
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('reconnect() tries at once, and says when it could not', async () => {
    await using proxy = await startProxy(server.port);
    breakHandshakes(proxy);
    await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 1, coolDownMs: MINUTE } });
    await until(() => owned.handle.state === 'exhausted');
    await expect(owned.handle.reconnect()).rejects.toMatchObject({ code: 'unavailable' });
    expect(proxy.posts('initialize')).toBe(2);
    proxy.reset();
    await owned.handle.reconnect();
    await callTool(owned, 'append', { key: 'by hand' });
    expect(server.ledger.runs('by hand')).toBe(1);
    expect(proxy.posts('initialize')).toBe(3);
  });
});

it('windowMs ends a recovery whose attempts are not spent', async () => {
  await using proxy = await startProxy(server.port);
  breakHandshakes(proxy);
  await using owned = own(http(proxy.url()), {
    recovery: { maxAttempts: 100_000, windowMs: 300, coolDownMs: MINUTE },
  });
  const end = await settled(callTool(owned, 'append', { key: 'x' }, MINUTE));
  expect(end.error).toMatchObject({ code: 'unavailable' });
  expect(end.ms).toBeLessThan(5_000);
  expect(owned.handle.state).toBe('exhausted');
  const dials = proxy.posts('initialize');
  expect(dials).toBeGreaterThan(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  // The one that was on its way when the window ended may have arrived since.
  expect(proxy.posts('initialize')).toBeLessThanOrEqual(dials + 1);
});

describe('Retry-After', () => {
  const inSeconds = () => '1';
  const asDate = () => new Date(Date.now() + 2_000).toUTCString();
  it.concurrent.each([
    ['seconds', 503, inSeconds],
    ['a date', 503, asDate],
    ['seconds', 429, inSeconds],
  ] as const)('as %s, with %i, is honoured', async (_form, status, retryAfter) => {
    await using proxy = await startProxy(server.port);
    const headers = { 'retry-after': retryAfter() };
    proxy.next('initialize', { kind: 'answer', status, forwarded: false, headers });
    const begun = Date.now();
    await using owned = own(http(proxy.url()));
    await callTool(owned, 'append', { key: 'x' });
    expect(Date.now() - begun).toBeGreaterThanOrEqual(950);
    expect(proxy.posts('initialize')).toBe(2);
  });
});

describe('stableMs', () => {
  it('a server that flaps is not dialled for ever', async () => {
    await using proxy = await startProxy(server.port);
    proxy.always('tools/call', { kind: 'answer', status: 404, forwarded: false });
    await using owned = own(http(proxy.url()), {
      recovery: { maxAttempts: 4, stableMs: MINUTE, coolDownMs: MINUTE, recreate: 'eager' },
    });
    await owned.ready();
    for (let n = 0; n < 10; n++) {
      const { error } = await settled(callTool(owned, 'append', { key: 'flapping' }, MINUTE));
      expect(error).toMatchObject({ code: 'unavailable' });
    }
    expect(proxy.posts('initialize')).toBeLessThanOrEqual(4);
    expect(owned.handle.state).toBe('exhausted');
    expect(server.ledger.runs('flapping')).toBe(0);
  });

  it('gives attempts back to one that was stable', async () => {
    await using owned = own(http(server.url), { recovery: { maxAttempts: 2, stableMs: 30 } });
    await owned.ready();
    for (let n = 1; n <= 5; n++) {
      const since = performance.now();
      await until(() => performance.now() - since > 100);
      await server.evict();
      expectEnding(await settled(callTool(owned, 'append', { key: `stable${n}` })), 'answered');
    }
    expect(owned.handle.generation).toBe(6);
    expect(owned.states()).not.toContain('exhausted');
  });

  it('an operation is sent twice at most: a second loss in a row reaches its caller', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    proxy.next('tools/call', { kind: 'answer', status: 404, forwarded: false }, 2);
    const { error } = await settled(callTool(owned, 'append', { key: 'twice' }));
    expect(error).toMatchObject({
      code: 'unavailable',
      evidence: { execution: 'none', cause: 'session-unknown' },
    });
    expect(proxy.posts('tools/call')).toBe(2);
    expect(server.ledger.runs('twice')).toBe(0);
    await callTool(owned, 'append', { key: 'later' });
    expect(owned.handle.generation).toBe(3);
  });
});
