// Many calls find the same generation dead: one recreation, and nobody of an older generation has a say any more.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, own, settled, stdio } from '../support/owned.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const keys = (count: number) => Array.from({ length: count }, (_, n) => `key${n}`);

describe('single flight', () => {
  it.each([10, 100])('%i calls on a forgotten session: one initialize, each runs once', async (count) => {
    await using owned = own(http(server.url));
    await owned.ready();
    await server.evict();
    server.ledger.clear();
    const ends = await Promise.all(keys(count).map((key) => settled(callTool(owned, 'append', { key }))));
    for (const end of ends) expectEnding(end, 'answered');
    expect(server.ledger.initializes()).toBe(1);
    for (const key of keys(count)) expect(server.ledger.runs(key)).toBe(1);
    // What each request carried counts: the id of the dead session, then that of the new one.
    expect(server.ledger.count('request', (each) => each.known === false && each.tool === 'append')).toBe(
      count,
    );
    expect(server.ledger.requests('tools/call')).toBe(2 * count);
    expect(owned.handle.generation).toBe(2);
    expect(owned.states().filter((state) => state === 'recreating')).toHaveLength(1);
  });

  it('10 calls on a session whose 400 has to be confirmed: one ping, one initialize', async () => {
    await using strict = await startServer({ unknownSession: '400-no-valid-session' });
    await using owned = own(http(strict.url));
    await owned.ready();
    await strict.evict();
    const ends = await Promise.all(keys(10).map((key) => settled(callTool(owned, 'append', { key }))));
    for (const end of ends) expectEnding(end, 'answered');
    expect(strict.ledger.requests('ping')).toBe(1);
    expect(strict.ledger.initializes()).toBe(2);
    for (const key of keys(10)) expect(strict.ledger.runs(key)).toBe(1);
  });

  it('5 safe and 5 unsafe calls on a dying child: one respawn; the unsafe ones are not repeated', async () => {
    await using child = stdioServer();
    await using owned = own(stdio(child), { replay: { tools: { read: 'safe' } } });
    await owned.ready();
    const reads = keys(5).map((key) => settled(callTool(owned, 'read', { key, holdMs: 300 })));
    const appends = keys(5).map((key) =>
      settled(callTool(owned, 'append', { key: `a-${key}`, holdMs: 60_000 })),
    );
    await until(() => child.ledger.runs() === 10);
    process.kill(child.server(), 'SIGKILL');
    for (const end of await Promise.all(reads)) expectEnding(end, 'answered');
    for (const end of await Promise.all(appends)) expectEnding(end, { unknown: 'connection-closed' });
    expect(child.ledger.count('spawn')).toBe(2);
    expect(child.ledger.initializes()).toBe(2);
    expect(child.ledger.count('run', ({ tool }) => tool === 'append')).toBe(5);
    expect(child.ledger.count('run', ({ tool }) => tool === 'read')).toBe(10);
  });

  it('three reconnect() at once are one', async () => {
    await using owned = own(http(server.url));
    await owned.ready();
    server.ledger.clear();
    await Promise.all([owned.handle.reconnect(), owned.handle.reconnect(), owned.handle.reconnect()]);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 2 });
  });
});

describe('what comes late from an older generation changes nothing', () => {
  it('a 404', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    await server.evict();
    server.ledger.clear();
    proxy.next('tools/call', { kind: 'delay', ms: 700 });
    const late = settled(callTool(owned, 'append', { key: 'late' }));
    await until(() => proxy.posts('tools/call') === 1);
    await callTool(owned, 'append', { key: 'x' });
    expect(owned.handle.generation).toBe(2);
    expectEnding(await late, 'answered');
    expect(server.ledger.runs('late')).toBe(1);
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 2 });
    expect(owned.states().filter((state) => state === 'lost')).toHaveLength(1);
  });

  it('a cut of its answer, and the end of its streams', async () => {
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { recovery: { recreate: 'eager' } });
    await until(() => proxy.openStreams === 1);
    server.ledger.clear();
    proxy.next('tools/call', { kind: 'cut-after-headers', how: 'rst', early: true, afterMs: 500 });
    const late = settled(callTool(owned, 'append', { key: 'late', holdMs: 2_000 }));
    await until(() => server.ledger.runs('late') === 1);
    await owned.handle.reconnect();
    expectEnding(await late, { unknown: ['answer-lost', 'connection-closed'] });
    await callTool(owned, 'append', { key: 'x' });
    expect(server.ledger.runs('late')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 2 });
    expect(owned.states()).not.toContain('lost');
  });
});
