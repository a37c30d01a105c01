// A v2 client of the host's own: its wire is watched from its transport, and closer where it takes our `fetch`.
// A call whose answer can no longer come is settled at once; the time that it was allowed is a minute.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Connect, type ConnectContext, createSupervisor, OutcomeUnknownError } from '../../src/index.ts';
import { type FaultProxy, NO_LISTEN_STREAM, type ProxyAction, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };
const tool = (name: string, key: string, extra = {}) => ({ name, arguments: { key, ...extra } });

let server: TestServer;
let proxy: FaultProxy;
beforeAll(async () => {
  server = await startServer();
  proxy = await startProxy(server.port);
});
afterEach(() => {
  proxy.reset();
  server.ledger.clear();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

function own(takesFetch: boolean) {
  const supervisor = createSupervisor({ clientInfo });
  const connect = async ({ fetch }: ConnectContext) => {
    const raw = await connectV2({ url: proxy.url() }, 'legacy', takesFetch ? { fetch } : {});
    return raw.client as never;
  };
  const handle = supervisor.own('mine', {
    connect: connect as Connect,
    replay: { tools: { read: 'safe' } },
    recovery: { initialBackoffMs: 20 },
  });
  return { supervisor, handle };
}

const CUTS: [string, ProxyAction][] = [
  ['a clean end of the stream', { kind: 'cut-after-headers', how: 'eof' }],
  ['a reset', { kind: 'cut-after-headers', how: 'rst' }],
  ['an orderly end of the connection', { kind: 'cut-after-headers', how: 'fin' }],
  ['202 to a request', { kind: 'answer', status: 202, forwarded: true }],
];

describe.each([
  ['with our fetch', true],
  ['without our fetch', false],
])('%s', (_how, takesFetch) => {
  it.each(CUTS)('%s: the outcome of an unsafe call is unknown, and known at once', async (fault, action) => {
    if (!takesFetch && fault.startsWith('202')) return; // Seen by `fetch` alone.
    proxy.always('GET', NO_LISTEN_STREAM);
    const { supervisor, handle } = own(takesFetch);
    await handle.listTools();
    proxy.next('tools/call', action);
    const begun = performance.now();
    const error = await rejection(handle.callTool(tool('append', 'cut')));
    expect(performance.now() - begun).toBeLessThan(2_500);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({ evidence: { execution: 'unknown', cause: 'answer-lost' } });
    expect(server.ledger.runs('cut')).toBe(1);
    // The session is well: the same generation goes on.
    await handle.callTool(tool('append', 'next'));
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(server.ledger.requests('tools/call')).toBe(2);
    await supervisor.close();
    expect(server.ledger.initializes()).toBe(1);
  });

  it('a safe call is sent again on the session that is well', async () => {
    const { supervisor, handle } = own(takesFetch);
    await handle.listTools();
    proxy.next('tools/call', { kind: 'cut-after-headers', how: 'eof' });
    expect(await handle.callTool(tool('read', 'again'))).toHaveProperty('content');
    expect(server.ledger.runs('again')).toBe(2);
    expect(server.ledger.initializes()).toBe(1);
    expect(handle.generation).toBe(1);
    await supervisor.close();
  });

  it('a session that is evicted under calls: both are settled, the safe one on a new generation', async () => {
    const { supervisor, handle } = own(takesFetch);
    const unsafe = rejection(handle.callTool(tool('append', 'unsafe', { holdMs: 15_000 })));
    const safe = handle.callTool(tool('read', 'safe', { holdMs: 700 }));
    await until(() => server.ledger.runs() === 2);
    const begun = performance.now();
    await server.evict();
    expect(await unsafe).toBeInstanceOf(OutcomeUnknownError);
    expect(await safe).toHaveProperty('content');
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(handle.generation).toBe(2);
    expect([server.ledger.runs('unsafe'), server.ledger.runs('safe')]).toEqual([1, 2]);
    expect(server.ledger.initializes()).toBe(2);
    await supervisor.close();
    // The evicted session has nothing left to end.
    expect(proxy.deletes).toBeGreaterThan(0);
    expect(server.ledger.events('delete').map(({ status }) => status)).toEqual([200]);
  });
});
