// Failures that are no loss reach the caller as the very object that the SDK threw, and the connection stays ready.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FaultProxy, type ProxyAction, startProxy } from '../support/fault-proxy.ts';
import type { Fault } from '../support/faults.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import {
  callersClient,
  expectNothingUntrue,
  lend,
  overheard,
  rejection,
  type Supply,
} from '../support/lent.ts';
import { until } from '../support/until.ts';

const append = (key: string, extra = {}) => ({ name: 'append', arguments: { key, ...extra } });
const SUPPLIES: Supply[] = ['v1 client', 'v2 client', 'v1 session', 'v2 session'];

let server: TestServer;
let json: TestServer;
let proxy: FaultProxy;
beforeAll(async () => {
  [server, json] = await Promise.all([startServer(), startServer({ answers: 'json' })]);
  proxy = await startProxy(server.port);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await Promise.all([server[Symbol.asyncDispose](), json[Symbol.asyncDispose]()]);
});
beforeEach(() => server.clearFaults());

interface Row {
  readonly fault: string;
  readonly order: Fault;
  /** What v1 says; v2 says it in its own words (facts, section 1). */
  readonly code: number;
  /** What the server ran. */
  readonly runs: 0 | 1;
}

const status = (code: number, when: 'before' | 'after' = 'before', body = 'no'): Row => ({
  fault: `HTTP ${code}${when === 'after' ? ' after it ran' : ''}`,
  order: { kind: 'status', status: code, when, body },
  code,
  runs: when === 'after' ? 1 : 0,
});

const ROWS: Row[] = [
  ...[401, 403, 405, 406, 408, 409, 413, 415, 425, 429, 499, 500, 501, 502, 503, 504, 520].map((code) =>
    status(code),
  ),
  ...[302, 307, 308].map((code) => {
    const row = status(code);
    return { ...row, order: { ...row.order, headers: { location: 'http://127.0.0.1:9/mcp' } } as Fault };
  }),
  ...[403, 429, 499, 500, 503].map((code) => status(code, 'after')),
  status(400, 'before', '{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid params"}}'),
  status(400, 'after', 'Bad Request'),
  {
    fault: '404 with -32601 (unknown method)',
    order: { kind: 'rpc-error', code: -32601, message: 'Method not found', status: 404 },
    code: 404,
    runs: 0,
  },
  {
    fault: '500 "Session terminated before the request completed"',
    order: {
      kind: 'status',
      status: 500,
      when: 'after',
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Session terminated before the request completed"}}',
    },
    code: 500,
    runs: 1,
  },
  ...[-32602, -32603, -32000, -32001, 404].map((code) => ({
    fault: `in-band ${code}`,
    order: { kind: 'rpc-error' as const, code, message: 'Session not found', when: 'after' as const },
    code,
    runs: 1 as const,
  })),
  { fault: 'HTML', order: { kind: 'html' }, code: -1, runs: 0 },
];

describe.each(SUPPLIES)('%s', (supply) => {
  // Sessions and clients are judged alike; for sessions, some of the rows will do.
  const rows = supply.endsWith('client') ? ROWS : ROWS.filter((_row, index) => index % 4 === 0);
  it.each(rows)('$fault passes through', async ({ fault, order, code, runs }) => {
    await using mine = await callersClient(supply, server);
    const { supervisor, said, listen } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    listen(handle);
    await server.fault(order);
    const key = `${supply} ${fault}`;
    server.ledger.clear();

    const error = await rejection(handle.callTool(append(key)));

    expect(mine.thrown).toContain(error);
    const { status: httpStatus, code: own } = error as { status?: number; code?: number };
    if (fault === 'HTML' && supply.startsWith('v2')) expect(own).toBe('CLIENT_HTTP_UNEXPECTED_CONTENT');
    else expect(httpStatus ?? own).toBe(code);
    // A probe, where there is one, is a ping, and not more than one.
    await until(() => handle.status.inFlight === 0);
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(await handle.callTool(append('well'))).toHaveProperty('content');
    expect(server.ledger.runs(key)).toBe(runs);
    expect(server.ledger.requests('tools/call')).toBe(2);
    expect(server.ledger.requests('ping')).toBeLessThanOrEqual(1);
    expect(server.ledger.initializes()).toBe(0);
    expect(mine.touched).toEqual([]);
    await supervisor.close();
    expectNothingUntrue(said);
  });

  it('an isError result is a result, whatever it says', async () => {
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    server.ledger.clear();
    expect(await handle.callTool({ name: 'fails', arguments: { key: 'fails' } })).toMatchObject({
      isError: true,
      content: [{ text: 'Session terminated' }],
    });
    expect(handle.state).toBe('ready');
    expect(server.ledger.count('request')).toBe(1);
    await supervisor.close();
  });

  it('a timeout is no loss: the same error, at most one ping', async () => {
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const key = `${supply} slow`;
    server.ledger.clear();
    const error = await rejection(handle.callTool(append(key, { holdMs: 600 }), undefined, { timeout: 100 }));
    expect(mine.thrown).toContain(error);
    expect((error as { code: unknown }).code).toBe(supply.startsWith('v2') ? 'REQUEST_TIMEOUT' : -32001);
    expect(await handle.callTool(append('well'))).toHaveProperty('content');
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(server.ledger.runs(key)).toBe(1);
    expect(server.ledger.requests('ping')).toBeLessThanOrEqual(1);
    await supervisor.close();
  });

  it('an abort in flight is the abort of the SDK, and asks nothing', async () => {
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const key = `${supply} aborted`;
    server.ledger.clear();
    const abort = new AbortController();
    const call = rejection(
      handle.callTool(append(key, { holdMs: 300 }), undefined, { signal: abort.signal }),
    );
    await until(() => server.ledger.runs(key) === 1);
    abort.abort();
    expect(mine.thrown).toContain(await call);
    expect(handle.state).toBe('ready');
    await handle.callTool(append('well'));
    expect(server.ledger.requests('ping')).toBe(0);
    expect(server.ledger.runs(key)).toBe(1);
    await supervisor.close();
  });

  it('an abort before the call sends nothing', async () => {
    await using mine = await callersClient(supply, server);
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    server.ledger.clear();
    const reason = new Error('not wanted');
    const error = await rejection(
      handle.callTool(append('x'), undefined, { signal: AbortSignal.abort(reason) }),
    );
    expect([...mine.thrown, reason]).toContain(error);
    expect(server.ledger.count('request')).toBe(0);
    expect(handle.state).toBe('ready');
    await supervisor.close();
  });

  it.each<[string, ProxyAction]>([
    ['a stream that ends without an answer', { kind: 'cut-after-headers', how: 'eof' }],
    ['a stream that is reset', { kind: 'cut-after-headers', how: 'rst' }],
    ['202 to a request', { kind: 'answer', status: 202, forwarded: true }],
  ])('%s is a timeout: nobody watches the wire of a caller', async (fault, action) => {
    proxy.reset();
    await using mine = await callersClient(supply, { url: proxy.url() });
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const key = `${supply} ${fault}`;
    server.ledger.clear();
    proxy.next('tools/call', action);
    const error = await rejection(handle.callTool(append(key), undefined, { timeout: 250 }));
    expect(mine.thrown).toContain(error);
    expect(error).toMatchObject({ data: { timeout: 250 } });
    await handle.callTool(append('well'));
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(server.ledger.runs(key)).toBe(1);
    expect(server.ledger.requests('tools/call')).toBe(2);
    await supervisor.close();
  });

  it.each(['rst', 'fin'] as const)('a connection cut by %s on the way, with the server well', async (how) => {
    proxy.reset();
    await using mine = await callersClient(supply, { url: proxy.url() });
    const { supervisor } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    const key = `${supply} ${how}`;
    server.ledger.clear();
    proxy.next('tools/call', { kind: 'cut', how, forwarded: true });
    const error = await rejection(handle.callTool(append(key)));
    expect(mine.thrown).toContain(error);
    expect(error).toMatchObject({ name: 'TypeError', message: 'fetch failed' });
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    await handle.callTool(append('well'));
    expect(server.ledger.runs(key)).toBe(1);
    expect(server.ledger.requests('tools/call')).toBe(2);
    await supervisor.close();
  });
});

it.each(SUPPLIES)('%s: a server without sessions has none to lose', async (supply) => {
  await using stateless = await startServer({ transport: 'stateless' });
  await using mine = await callersClient(supply, stateless);
  const { supervisor } = overheard();
  const handle = lend(supervisor, 'mine', supply, mine);
  await stateless.restart();
  expect(await handle.callTool(append('restarted'))).toHaveProperty('content');
  // To a request that named no session, 404 means another place, not a forgotten session.
  await stateless.fault({ kind: 'status', status: 404, body: 'Not Found' });
  const error = await rejection(handle.callTool(append('nowhere')));
  expect(mine.thrown).toContain(error);
  expect(await handle.callTool(append('well'))).toHaveProperty('content');
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  expect(stateless.ledger.initializes()).toBe(1);
  expect(stateless.ledger.requests('ping')).toBe(0);
  await supervisor.close();
  expect(mine.touched).toEqual([]);
});

it.each(SUPPLIES)('%s: a JSON answer that is broken passes through', async (supply) => {
  await using mine = await callersClient(supply, json);
  const { supervisor } = overheard();
  const handle = lend(supervisor, 'mine', supply, mine);
  await json.fault({ kind: 'broken-json' });
  const error = await rejection(handle.callTool(append('broken')));
  expect(mine.thrown).toContain(error);
  expect(error).toMatchObject({ name: 'SyntaxError' });
  expect(await handle.callTool(append('well'))).toHaveProperty('content');
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  await supervisor.close();
});
