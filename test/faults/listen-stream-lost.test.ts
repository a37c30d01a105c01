// Revision 2026-07-28: the stream on which a server tells of changes (`subscriptions/listen`), cut and ended.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ConnectionEvents, createSupervisor, type OwnOptions } from '../../src/index.ts';
import { sdk2 } from '../../src/sdk-2.ts';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { transportV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const { Client } = sdk2 as unknown as typeof import('@modelcontextprotocol/client');
const clientInfo = { name: 'host', version: '1' };
const versionNegotiation = { mode: 'auto' } as const;

let server: TestServer;
let proxy: FaultProxy;
beforeAll(async () => {
  server = await startServer({ transport: 'modern' });
  proxy = await startProxy(server.port);
});
beforeEach(async () => {
  proxy.reset();
  await proxy.reopen();
  server.ledger.clear();
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

type Loss = ConnectionEvents['listen-stream-lost'];
const listens = () => server.ledger.requests('subscriptions/listen');

/** By the option `listChanged` within `connect`; or, over our transport, by `listen()`. */
async function host(way: 'listChanged' | 'listen', more: Partial<OwnOptions> = {}, behind = server) {
  let heard = 0;
  let client: InstanceType<typeof Client> | undefined;
  const supervisor = createSupervisor({
    clientInfo,
    setup: (made: InstanceType<typeof Client>) => {
      client = made;
      made.setNotificationHandler('notifications/tools/list_changed', () => {
        heard++;
      });
    },
  });
  const connect = async ({ fetch }: { fetch: typeof globalThis.fetch }) => {
    const listChanged = { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => heard++ } };
    const made = new Client(clientInfo, { versionNegotiation, listChanged });
    await made.connect(transportV2({ url: proxy.url() }, { fetch }));
    return made as never;
  };
  const handle = supervisor.own('mine', {
    ...(way === 'listChanged'
      ? { connect: connect as never }
      : { transport: { kind: 'http', url: proxy.url(), sdk: sdk2 } }),
    recovery: { initialBackoffMs: 20, windowMs: 2_000 },
    ...(more as object),
  });
  const losses: Loss[] = [];
  handle.on('listen-stream-lost', (loss) => losses.push(loss));
  await handle.ready();
  const subscription = way === 'listen' ? await client!.listen({ toolsListChanged: true }) : undefined;
  await until(() => behind.ledger.requests('subscriptions/listen') === 1);
  return {
    handle,
    losses,
    subscription,
    heard: () => heard,
    forget: () => {
      heard = 0;
    },
    [Symbol.asyncDispose]: () => supervisor.close(),
  };
}

describe.each(['listChanged', 'listen'] as const)('%s', (way) => {
  it('is cut: opened again, with one notice of what may have been missed, and then changes are heard', async () => {
    await using mine = await host(way);
    await server.listChanged();
    await until(() => mine.heard() > 0, { what: 'a change before the cut' });
    mine.forget();
    await proxy.cutConnections();
    await until(() => mine.losses.length === 1, { what: 'the event' });
    expect(mine.losses[0]).toMatchObject({
      connection: 'mine',
      generation: 1,
      listened: ['tools'],
      final: false,
    });
    await until(() => mine.heard() === 1, { what: 'the notice' });
    await server.listChanged();
    await until(() => mine.heard() === 2, { what: 'a change after it' });
    expect(listens()).toBe(2);
    expect(mine.handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(mine.losses).toHaveLength(1);
  });

  it('ends with its server, and is opened again when that is back', async () => {
    await using mine = await host(way);
    await server.kill();
    await until(() => mine.losses.length === 1);
    await server.start();
    await until(() => mine.heard() === 1, { what: 'the notice' });
    await server.listChanged();
    await until(() => mine.heard() === 2, { what: 'a change' });
    expect(mine.handle).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('is not to be had for the window: said to be final', async () => {
    await using mine = await host(way, { recovery: { initialBackoffMs: 20, windowMs: 200 } });
    proxy.always('subscriptions/listen', { kind: 'answer', status: 502, forwarded: false });
    await proxy.cutConnections();
    await until(() => mine.losses.at(-1)?.final === true, { what: 'the last word' });
    expect(mine.losses.map(({ final }) => final)).toEqual([false, true]);
    if (mine.subscription) expect(await mine.subscription.closed).toBe('remote');
  });

  it('is refused after the cut: final at once', async () => {
    await using mine = await host(way);
    proxy.next('subscriptions/listen', { kind: 'answer', status: 404, forwarded: false });
    await proxy.cutConnections();
    await until(() => mine.losses.at(-1)?.final === true);
    expect(listens()).toBe(1);
    await mine.handle.listTools();
  });

  it('is not opened again after close()', async () => {
    const mine = await host(way);
    await proxy.refuse();
    await until(() => mine.losses.length === 1);
    await mine.handle.close();
    await proxy.reopen();
    await server.listChanged();
    expect([listens(), mine.losses.length]).toEqual([1, 1]);
    await mine[Symbol.asyncDispose]();
  });
});

it('is given up by the host while it is lost: not opened again', async () => {
  await using mine = await host('listen');
  await proxy.refuse();
  await until(() => mine.losses.length === 1);
  await mine.subscription?.close();
  await proxy.reopen();
  await mine.handle.listTools();
  expect(listens()).toBe(1);
  expect(await mine.subscription?.closed).toBe('local');
});

it('a server that ends it well: told, and asked for another, while the first is closed as the server said', async () => {
  const ending = await startServer({ transport: 'modern' });
  const target = proxy.targetPort;
  proxy.targetPort = ending.port;
  await using mine = await host('listen', {}, ending);
  await ending.evict();
  await until(() => mine.losses.length > 0);
  expect(mine.losses[0]?.final).toBe(false);
  expect(await mine.subscription?.closed).toBe('graceful');
  proxy.targetPort = target;
  await until(() => listens() === 1, { what: 'another' });
  await until(() => mine.heard() === 1, { what: 'the notice' });
  await ending[Symbol.asyncDispose]();
});

/** By hand: a server of 2026-07-28 that acknowledges each stream and ends it at once, with a result. */
async function endsEachAtOnce() {
  let listened = 0;
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const { id, method } = JSON.parse(body) as { id: unknown; method: string };
    const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' };
    if (method !== 'subscriptions/listen') {
      const tools = {
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: true } },
        tools: [],
      };
      const answer = { jsonrpc: '2.0', id, result: { ...complete, ...tools } };
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return;
    }
    listened++;
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    const params = { _meta, notifications: { toolsListChanged: true } };
    const acknowledged = { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params };
    const ended = { jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } };
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const message of [acknowledged, ended]) res.write(`data: ${JSON.stringify(message)}\n\n`);
    res.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    listened: () => listened,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

it('a server that ends each at once is asked less and less often', async () => {
  // The first pause can be nothing; no other is shorter than half a minute then.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  await using ending = await endsEachAtOnce();
  let client: InstanceType<typeof Client> | undefined;
  await using supervisor = createSupervisor({
    clientInfo,
    setup: (made: InstanceType<typeof Client>) => {
      client = made;
    },
  });
  const handle = supervisor.own('mine', {
    transport: { kind: 'http', url: ending.url, sdk: sdk2 },
    recovery: { initialBackoffMs: 60_000, maxBackoffMs: 60_000 },
  });
  const losses: Loss[] = [];
  handle.on('listen-stream-lost', (loss) => losses.push(loss));
  await handle.ready();
  await client!.listen({ toolsListChanged: true });
  await until(() => losses.length === 2, { what: 'the second end' });
  for (let n = 0; n < 50; n++) await handle.listTools();
  expect([ending.listened(), losses.length]).toEqual([2, 2]);
  vi.restoreAllMocks();
});

it('of the caller’s client: told, and left as it is', async () => {
  const client = new Client(clientInfo, {
    versionNegotiation,
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => {} } },
  });
  await client.connect(transportV2({ url: proxy.url() }));
  const supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', client as never);
  const losses: Loss[] = [];
  handle.on('listen-stream-lost', (loss) => losses.push(loss));
  await handle.replace(client as never);
  await proxy.cutConnections();
  await until(() => losses.length > 0);
  expect(losses).toMatchObject([{ listened: ['tools'], final: true, generation: 2 }]);
  await handle.listTools();
  expect([handle.state, listens()]).toEqual(['ready', 1]);
  await supervisor.close();
  await client.close();
});

it('of the caller’s client, after close(): nothing is told any more', async () => {
  const client = new Client(clientInfo, {
    versionNegotiation,
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => {} } },
  });
  await client.connect(transportV2({ url: proxy.url() }));
  const supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', client as never);
  const losses: Loss[] = [];
  handle.on('listen-stream-lost', (loss) => losses.push(loss));
  await supervisor.close();
  await proxy.cutConnections();
  expect(await client.autoOpenedSubscription?.closed).toBe('remote');
  expect(losses).toEqual([]);
  await client.close();
});
