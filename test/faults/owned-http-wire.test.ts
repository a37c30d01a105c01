// Owned, Streamable HTTP: the exchange breaks on the wire while the server and its session are well.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, type ProxyAction, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, type Ending, expectEnding, http, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

const replay = { tools: { read: 'safe' } } as const;

let servers: { sse: TestServer; json: TestServer };
beforeAll(async () => {
  const [sse, json] = await Promise.all([startServer(), startServer({ answers: 'json' })]);
  servers = { sse, json };
});
afterAll(() => Promise.all([servers.sse, servers.json].map((each) => each[Symbol.asyncDispose]())));

const CUT: Ending = { unknown: 'request-cut' };
const LOST: Ending = { unknown: 'answer-lost' };

/** What `append` ends with; `read` is sent again and answered unless it `passes`. */
type Row = [string, answers: 'sse' | 'json', ProxyAction, append: Ending, runs: 0 | 1];

const rows: Row[] = [
  ['RST, not forwarded', 'sse', { kind: 'cut', how: 'rst', forwarded: false }, CUT, 0],
  ['RST, executed', 'sse', { kind: 'cut', how: 'rst', forwarded: true }, CUT, 1],
  ['FIN, not forwarded', 'sse', { kind: 'cut', how: 'fin', forwarded: false }, CUT, 0],
  ['FIN, executed', 'sse', { kind: 'cut', how: 'fin', forwarded: true }, CUT, 1],
  ['RST after SSE headers', 'sse', { kind: 'cut-after-headers', how: 'rst' }, LOST, 1],
  ['FIN after SSE headers', 'sse', { kind: 'cut-after-headers', how: 'fin' }, LOST, 1],
  ['clean EOF after SSE headers', 'sse', { kind: 'cut-after-headers', how: 'eof' }, LOST, 1],
  ['clean EOF within an event', 'sse', { kind: 'cut-after-headers', how: 'eof', bodyBytes: 20 }, LOST, 1],
  ['JSON body cut by RST', 'json', { kind: 'cut-after-headers', how: 'rst', bodyBytes: 10 }, CUT, 1],
  ['JSON body cut by FIN', 'json', { kind: 'cut-after-headers', how: 'fin', bodyBytes: 10 }, CUT, 1],
  [
    'JSON body cut by a chunked EOF',
    'json',
    { kind: 'cut-after-headers', how: 'eof', bodyBytes: 10 },
    { passes: { name: 'SyntaxError' } },
    1,
  ],
  ['202, not forwarded', 'sse', { kind: 'answer', status: 202, forwarded: false }, LOST, 0],
  ['202, executed', 'sse', { kind: 'answer', status: 202, forwarded: true }, LOST, 1],
];

describe('the exchange breaks, the session is well', () => {
  it.each(rows)('%s: append', async (_name, answers, action, ending, runs) => {
    const server = servers[answers];
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { replay });
    await owned.ready();
    server.ledger.clear();
    proxy.next('tools/call', action);
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), ending);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('x'), 'never a second time').toBe(runs);
    expect(server.ledger.runs('later')).toBe(1);
    expectSameSession(server, proxy, 2);
    expect(owned.handle.generation).toBe(1);
  });

  it.each(rows)('%s: read, declared safe', async (_name, answers, action, ending, runs) => {
    const server = servers[answers];
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { replay });
    await owned.ready();
    server.ledger.clear();
    proxy.next('tools/call', action);
    const passes = ending !== 'answered' && 'passes' in ending;
    expectEnding(await settled(callTool(owned, 'read', { key: 'x' })), passes ? ending : 'answered');
    expect(server.ledger.runs('x')).toBe(passes ? runs : runs + 1);
    expectSameSession(server, proxy, passes ? 1 : 2);
    expect(owned.handle.generation).toBe(1);
  });

  // One row for each ending: what differs is only the method.
  const oneOfEach = rows.filter(([name]) =>
    /^(RST, executed|clean EOF after SSE headers|202, executed|JSON body cut by a)/.test(name),
  );
  it.each(oneOfEach)('%s: listTools', async (_name, answers, action, ending) => {
    const server = servers[answers];
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    server.ledger.clear();
    proxy.next('tools/list', action);
    const passes = ending !== 'answered' && 'passes' in ending;
    expectEnding(await settled(owned.handle.listTools()), passes ? ending : 'answered');
    expect(proxy.posts('tools/list')).toBe(passes ? 1 : 2);
    expect(server.ledger.initializes()).toBe(0);
    expect(owned.handle.generation).toBe(1);
  });

  function expectSameSession(server: TestServer, proxy: FaultProxy, posts: number): void {
    expect(proxy.posts('tools/call')).toBe(posts);
    expect(server.ledger.initializes()).toBe(0);
  }
});

describe('no connection can be made', () => {
  it('a connection that is reset as soon as it is accepted proves that nothing was sent', async () => {
    await using proxy = await startProxy(servers.sse.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    await until(() => proxy.openStreams === 1);
    servers.sse.ledger.clear();
    await proxy.cutNextConnection('rst');
    await callTool(owned, 'append', { key: 'x' });
    expect(servers.sse.ledger.runs('x')).toBe(1);
    expect(proxy.posts('tools/call')).toBe(1);
  });

  it('one that ends as soon as it is accepted: once at most, whatever undici makes of it', async () => {
    await using proxy = await startProxy(servers.sse.port);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    await until(() => proxy.openStreams === 1);
    servers.sse.ledger.clear();
    await proxy.cutNextConnection('fin');
    const end = await settled(callTool(owned, 'append', { key: 'x' }));
    // If the end is seen before the request was written, undici itself takes another connection.
    expectEnding(end, end.error === undefined ? 'answered' : CUT);
    expect(servers.sse.ledger.runs('x')).toBe(end.error === undefined ? 1 : 0);
    await callTool(owned, 'append', { key: 'later' });
    expect(servers.sse.ledger.runs('later')).toBe(1);
  });

  it('a refused call waits, and is sent once when somebody listens again', async () => {
    await using proxy = await startProxy(servers.sse.port);
    await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 50, maxBackoffMs: 20 } });
    await owned.ready();
    servers.sse.ledger.clear();
    await proxy.refuse();
    const call = settled(callTool(owned, 'append', { key: 'x' }));
    await until(() => owned.states().includes('recreating'));
    await proxy.reopen();
    expectEnding(await call, 'answered');
    expect(servers.sse.ledger.runs('x')).toBe(1);
    expect(servers.sse.ledger.initializes()).toBe(1);
    expect(owned.handle.generation).toBe(2);
  });

  it('a refused call that may not wait longer did not run', async () => {
    await using proxy = await startProxy(servers.sse.port);
    await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 500, maxBackoffMs: 20 } });
    await owned.ready();
    servers.sse.ledger.clear();
    await proxy.refuse();
    const end = await settled(callTool(owned, 'append', { key: 'x' }, 300));
    expectEnding(end, { unavailable: 'unreachable' });
    expect(end.ms).toBeLessThan(2_000);
    await proxy.reopen();
    await callTool(owned, 'append', { key: 'later' });
    expect(servers.sse.ledger.runs('x')).toBe(0);
    expect(servers.sse.ledger.runs('later')).toBe(1);
  });
});
