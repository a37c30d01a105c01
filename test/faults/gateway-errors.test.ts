// A gateway answers in the server's stead: the operation may have run, and nothing is wrong with the connection.
import { describe, expect, it } from 'vitest';
import { OutcomeUnknownError } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { type FaultProxy, type ProxyAction, startProxy } from '../support/fault-proxy.ts';
import { callersClient, overheard, type Supply } from '../support/lent.ts';
import { callTool, expectEnding, type Owned, type OwnedRecipe, own, settled } from '../support/owned.ts';
import { connectV2 } from '../support/raw-client.ts';
import { sharedServer } from '../support/shared-server.ts';

expectNoCrashes();

const HTML = '<!doctype html><title>Gateway</title><h1>the secret of the gateway</h1>';
const STATUSES = [500, 501, 502, 504, 520, 524];
const replay = { tools: { read: 'safe' } } as const;

const page = (status: number, forwarded = false): ProxyAction => ({
  kind: 'answer',
  status,
  forwarded,
  body: HTML,
  contentType: 'text/html',
});

const v2 =
  (url: URL): OwnedRecipe =>
  async ({ fetch }) =>
    (await connectV2(url, 'legacy', { fetch: fetch as never })).client as never;

const WAYS = [
  ['HTTP, SSE answers', sharedServer(), (url: URL): OwnedRecipe => ({ kind: 'http', url })],
  [
    'HTTP, JSON answers',
    sharedServer({ answers: 'json' }),
    (url: URL): OwnedRecipe => ({ kind: 'http', url }),
  ],
  ['HTTP, SDK v2', sharedServer(), v2],
  ['legacy SSE', sharedServer({ transport: 'sse' }), (url: URL): OwnedRecipe => ({ kind: 'sse', url })],
  ['legacy SSE, SDK v2', sharedServer({ transport: 'sse' }), v2],
] as const;

/** The status, wherever the SDK's error has it. */
function statusOf(error: unknown): number {
  const { code, status, message } = error as { code?: unknown; status?: unknown; message: string };
  return Number(status ?? (typeof code === 'number' ? code : /\(HTTP (\d+)\)/.exec(message)?.[1]));
}

function expectOutcomeUnknown(error: unknown, status: number): void {
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({
    evidence: { connection: 'usable', execution: 'unknown', cause: 'gateway-error' },
  });
  const { message, cause } = error as Error;
  expect(message).not.toContain('secret');
  expect(statusOf(cause)).toBe(status);
  expect(String((cause as Error).message), 'the SDK’s own error').toContain(HTML);
}

function expectUnblamed(proxy: FaultProxy, { handle, states }: Owned): void {
  expect(handle.status).toMatchObject({
    state: 'ready',
    generation: 1,
    suspectSince: undefined,
    lastError: undefined,
  });
  expect(states().filter((state) => state !== 'connecting')).toEqual(['ready']);
  expect(proxy.posts('ping')).toBe(0);
}

describe.each(WAYS)('%s', (_way, shared, recipe) => {
  it.each(STATUSES)('%i to one operation', async (status) => {
    const server = shared();
    await using proxy = await startProxy(server.port);
    await using owned = own(recipe(proxy.url(server.path)), { replay });
    await owned.ready();
    const calls = () => proxy.posts('tools/call');
    const before = calls();

    proxy.next('tools/call', page(status));
    expectOutcomeUnknown((await settled(callTool(owned, 'append', { key: 'a' }))).error, status);
    expect([calls() - before, server.ledger.runs('a')]).toEqual([1, 0]);

    proxy.next('tools/call', page(status));
    expectEnding(await settled(callTool(owned, 'read', { key: 'r' })), 'answered');
    expect([calls() - before, server.ledger.runs('r')], 'harmless, so once more').toEqual([3, 1]);

    proxy.next('tools/list', page(status));
    const { tools } = await owned.handle.listTools();
    expect(tools.length).toBeGreaterThan(0);
    expect(proxy.posts('tools/list')).toBe(2);

    proxy.next('tools/call', page(status), 2);
    expectOutcomeUnknown((await settled(callTool(owned, 'read', { key: 'twice' }))).error, status);
    expect([calls() - before, server.ledger.runs('twice')]).toEqual([5, 0]);

    expectUnblamed(proxy, owned);
  });

  it('503 is the SDK’s own error, and nothing is sent again', async () => {
    const server = shared();
    await using proxy = await startProxy(server.port);
    await using owned = own(recipe(proxy.url(server.path)), { replay });
    await owned.ready();
    const before = proxy.posts('tools/call');
    for (const tool of ['append', 'read']) {
      proxy.next('tools/call', page(503));
      const { error } = await settled(callTool(owned, tool, { key: 'x' }));
      expect(statusOf(error)).toBe(503);
      expect(error).not.toHaveProperty('evidence');
    }
    proxy.next('tools/list', page(503));
    expect(statusOf((await settled(owned.handle.listTools())).error)).toBe(503);
    expect([proxy.posts('tools/call') - before, proxy.posts('tools/list')]).toEqual([2, 1]);
    expect(server.ledger.runs()).toBe(0);
    expectUnblamed(proxy, owned);
  });
});

describe('after the server ran it', () => {
  const [, shared, recipe] = WAYS[0];

  it.each(STATUSES)('%i: what is not harmless runs once', async (status) => {
    const server = shared();
    await using proxy = await startProxy(server.port);
    await using owned = own(recipe(proxy.url()), { replay });
    await owned.ready();
    proxy.next('tools/call', page(status, true));
    expectOutcomeUnknown((await settled(callTool(owned, 'append', { key: 'a' }))).error, status);
    proxy.next('tools/call', page(status, true));
    expectEnding(await settled(callTool(owned, 'read', { key: 'r' })), 'answered');
    expect([server.ledger.runs('a'), server.ledger.runs('r')]).toEqual([1, 2]);
    expectUnblamed(proxy, owned);
  });

  it('"Session terminated before the request completed" in a 500, also with its id', async () => {
    const server = shared();
    await using owned = own(recipe(server.url), { replay });
    await owned.ready();
    const message = 'Session terminated before the request completed';
    const fault = { kind: 'rpc-error', code: -32603, message, status: 500, when: 'after' } as const;
    await server.fault(fault);
    const { error } = await settled(callTool(owned, 'append', { key: 'a' }));
    expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'gateway-error' } });
    await server.fault(fault);
    expectEnding(await settled(callTool(owned, 'read', { key: 'r' })), 'answered');
    expect([server.ledger.runs('a'), server.ledger.runs('r')]).toEqual([1, 2]);
    expect(owned.handle.generation).toBe(1);
  });
});

describe('a JSON-RPC error with the id of this request is its answer', () => {
  it.each(WAYS.slice(0, 3))('%s', async (_way, shared, recipe) => {
    const server = shared();
    await using owned = own(recipe(server.url), { replay });
    await owned.ready();
    for (const status of [500, 502, 503, 504]) {
      server.ledger.clear();
      const fault = { kind: 'rpc-error', code: -32603, message: 'Internal error', status } as const;
      await server.fault(fault);
      const { error } = await settled(callTool(owned, 'read', { key: 'x' }));
      expect(statusOf(error)).toBe(status);
      expect(error, 'as the SDK threw it').not.toHaveProperty('evidence');
      await server.fault({ ...fault, on: 'tools/list' });
      expect(statusOf((await settled(owned.handle.listTools())).error)).toBe(status);
      expect(server.ledger.requests('tools/call'), 'and nothing is sent again').toBe(1);
      expect(server.ledger.requests('tools/list')).toBe(1);
    }
    expect(owned.handle.status).toMatchObject({ state: 'ready', generation: 1, lastError: undefined });
  });

  it('of another request it is not', async () => {
    const [, shared, recipe] = WAYS[0];
    const server = shared();
    await using proxy = await startProxy(server.port);
    await using owned = own(recipe(proxy.url()), { replay });
    await owned.ready();
    const error = { code: -32603, message: 'Internal error' };
    for (const id of [4_711, null]) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, error });
      const answer = { kind: 'answer', status: 500, forwarded: false, contentType: 'application/json', body };
      proxy.next('tools/call', answer as ProxyAction);
      const end = await settled(callTool(owned, 'append', { key: 'a' }));
      expect(end.error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'gateway-error' } });
    }
    expect(server.ledger.runs('a')).toBe(0);
  });
});

describe.each<Supply>(['v1 client', 'v2 client', 'v1 session', 'bare session'])('%s, adopted', (supply) => {
  const [, shared] = WAYS[0];

  it.each([...STATUSES, 503])('%i is the SDK’s own error, and nothing is sent again', async (status) => {
    const server = shared();
    await using proxy = await startProxy(server.port);
    await using mine = await callersClient(supply, proxy.url());
    const { supervisor } = overheard();
    const session =
      supply === 'bare session' ? { request: mine.client.request.bind(mine.client) } : mine.client;
    const handle = supply.endsWith('session')
      ? supervisor.adoptSession('mine', session as never)
      : supervisor.adopt('mine', session as never);
    for (const [operation, call] of [
      ['tools/call', () => handle.callTool({ name: 'read', arguments: { key: 'x' } })],
      ['tools/list', () => handle.listTools()],
    ] as const) {
      const before = proxy.posts(operation);
      proxy.next(operation, page(status));
      const { error } = await settled(call());
      expect(statusOf(error)).toBe(status);
      expect(mine.thrown.at(-1), 'the very object').toBe(error);
      expect(proxy.posts(operation) - before).toBe(1);
    }
    expect(handle.status).toMatchObject({ state: 'ready', generation: 1, lastError: undefined });
    await supervisor.close();
    expect(mine.touched).toEqual([]);
  });
});
