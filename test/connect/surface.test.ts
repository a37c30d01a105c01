// A handle stands where an SDK client stood: the same names, parameters and results, whoever made the connection.
import { randomUUID } from 'node:crypto';
import type { Client as ClientV2 } from '@modelcontextprotocol/client';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CallToolResultSchema,
  CompatibilityCallToolResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type Connect,
  type ConnectionHandle,
  createSupervisor,
  type Supervisor,
  type SuppliedClient,
  type SuppliedSession,
} from '../../src/index.ts';
import { EVERY_OPERATION } from '../support/every-operation.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { connectV1, connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };
let server: TestServer;
let supervisor: Supervisor;
const raw: { v1?: Client; v2?: ClientV2 } = {};

beforeAll(async () => {
  server = await startServer();
  supervisor = createSupervisor({ clientInfo });
  raw.v1 = (await connectV1(server)).client;
  raw.v2 = (await connectV2(server)).client;
});
beforeEach(() => server.ledger.clear());
afterAll(async () => {
  await supervisor.close();
  await Promise.all([raw.v1?.close(), raw.v2?.close()]);
  await server[Symbol.asyncDispose]();
});

const HANDLES: { name: string; sdk: 'v1' | 'v2'; session: boolean; make: () => ConnectionHandle }[] = [
  {
    name: 'own, transport',
    sdk: 'v1',
    session: false,
    make: () => supervisor.own('own', { transport: { kind: 'http', url: server.url } }),
  },
  {
    name: 'own, connect with v2',
    sdk: 'v2',
    session: false,
    make: () =>
      supervisor.own('connect', {
        connect: (async () => (await connectV2(server)).client) as unknown as Connect,
      }),
  },
  {
    name: 'adopt v1',
    sdk: 'v1',
    session: false,
    make: () => supervisor.adopt('v1', raw.v1 as SuppliedClient),
  },
  {
    name: 'adopt v2',
    sdk: 'v2',
    session: false,
    make: () => supervisor.adopt('v2', raw.v2 as SuppliedClient),
  },
  {
    name: 'adoptSession v1',
    sdk: 'v1',
    session: true,
    make: () => supervisor.adoptSession('session v1', raw.v1 as SuppliedSession),
  },
  {
    name: 'adoptSession v2',
    sdk: 'v2',
    session: true,
    make: () => supervisor.adoptSession('session v2', raw.v2 as SuppliedSession),
  },
];

/** The handle as a host without types calls it. */
type Loose = Record<string, (...args: unknown[]) => Promise<unknown>>;

describe.each(HANDLES)('$name', ({ sdk, session, make }) => {
  let handle: ConnectionHandle;
  let loose: Loose;
  beforeAll(() => {
    handle = make();
    loose = handle as unknown as Loose;
  });
  const client = () => raw[sdk] as unknown as Client;
  const slow = (key: string) => ({ name: 'append', arguments: { key, holdMs: 2_000 } });

  it.each(EVERY_OPERATION)('$method gives what the client gives', async ({ method, call }) => {
    expect(await call(handle)).toEqual(await call(client() as unknown as ConnectionHandle));
    const requests = server.ledger.requests(method);
    // The probe that follows a timeout of another test may come in between.
    if (method === 'ping') expect(requests).toBeGreaterThanOrEqual(2);
    else expect(requests).toBe(2);
  });

  it('knows what the server said in its handshake', async () => {
    await handle.ping();
    for (const method of ['getServerCapabilities', 'getServerVersion', 'getInstructions'] as const) {
      // A session of SDK v2 is its client.
      expect(handle[method](), method).toEqual(session && sdk === 'v1' ? undefined : client()[method]());
    }
    if (!session) expect(handle.getServerVersion()?.name).toBe('steward-test-server');
  });

  it('passes parameters on: a cursor that the server does not know is its error', async () => {
    await handle.listTools({ cursor: '' });
    const error = await rejection(handle.readResource({ uri: 'text://nowhere' }));
    const own = await rejection(client().readResource({ uri: 'text://nowhere' }));
    expect((error as Error).message).toBe((own as Error).message);
    expect((error as { code: unknown }).code).toBe((own as { code: unknown }).code);
  });

  it('reports progress', async () => {
    const steps: unknown[] = [];
    await handle.callTool({ name: 'progress', arguments: { steps: 3, everyMs: 5 } }, undefined, {
      onprogress: (step) => void steps.push(step),
    });
    expect(steps).toEqual([1, 2, 3].map((progress) => ({ progress, total: 3 })));
  });

  const ORDERS: [string, (options: object) => unknown[]][] = [
    ["v1's order, no schema", (options) => [undefined, options]],
    ["v1's order", (options) => [CallToolResultSchema, options]],
    ["v1's order, another schema of the SDK", (options) => [CompatibilityCallToolResultSchema, options]],
    ["v2's order", (options) => [options]],
    ["v2's order, and one argument more", (options) => [options, undefined]],
  ];

  it.each(ORDERS)('callTool in %s: timeout and signal arrive', async (order, args) => {
    const timedOut = `${order} timeout`;
    const timeout = await rejection(loose.callTool!(slow(timedOut), ...args({ timeout: 60 })));
    expect((timeout as { code: unknown }).code).toBe(sdk === 'v2' ? 'REQUEST_TIMEOUT' : -32001);
    expect(timeout).toMatchObject({ data: { timeout: 60 } });

    const key = `${order} signal`;
    const abort = new AbortController();
    const call = rejection(loose.callTool!(slow(key), ...args({ signal: abort.signal })));
    await until(() => server.ledger.runs(key) === 1);
    abort.abort();
    await call;
    await until(() => server.ledger.count('cancelled') === 2, { what: 'both cancellations' });
    expect(await loose.callTool!({ name: 'echo', arguments: { text: 'hi' } }, ...args({}))).toMatchObject({
      content: [{ type: 'text', text: 'hi' }],
    });
    expect(server.ledger.count('run', ({ tool }) => tool === 'append')).toBe(2);
  });

  it('callTool checks the result against the schema that it is given', async () => {
    const args = { name: 'echo', arguments: { key: 'schema', text: 'hi' } };
    const Narrow = z.object({ content: z.array(z.object({ type: z.literal('text'), text: z.string() })) });
    expect(await loose.callTool!(args, Narrow)).toMatchObject({ content: [{ text: 'hi' }] });
    const other = loose.callTool!(args, z.object({ nope: z.string() }));
    // SDK v2 has no such parameter, and checks the result by the tool's own schema.
    if (sdk === 'v2') expect(await other).toMatchObject({ content: [{ text: 'hi' }] });
    else expect(String(await rejection(other))).toContain('nope');
    expect(server.ledger.runs('schema')).toBe(2);
    expect(handle.state).toBe('ready');
  });

  it("request in v1's style, with a schema and options", async () => {
    const { tools } = await handle.request({ method: 'tools/list' }, ListToolsResultSchema);
    expect(tools.length).toBeGreaterThan(5);
    const key = randomUUID();
    const call = { method: 'tools/call' as const, params: slow(key) };
    const error = await rejection(handle.request(call, CallToolResultSchema, { timeout: 60 }));
    expect(error).toMatchObject({ data: { timeout: 60 } });
    await until(() => server.ledger.runs(key) === 1, { what: 'one run' });
  });

  it("request in v2's style, without a schema", async () => {
    const key = randomUUID();
    const call = { method: 'tools/call', params: slow(key) };
    if (sdk === 'v1') {
      // SDK v1 would take the options for the schema, and fail after the tool has run.
      expect(await rejection(loose.request!(call, { timeout: 60 }))).toBeInstanceOf(TypeError);
      expect(await rejection(loose.request!(call))).toBeInstanceOf(TypeError);
      expect(await handle.listTools()).toHaveProperty('tools');
      expect(handle.state).toBe('ready');
      expect(server.ledger.requests('tools/call')).toBe(0);
      return;
    }
    expect(await loose.request!({ method: 'tools/list' })).toHaveProperty('tools');
    const error = await rejection(loose.request!(call, { timeout: 60 }));
    expect(error).toMatchObject({ data: { timeout: 60 } });
    await until(() => server.ledger.runs(key) === 1, { what: 'one run' });
  });

  it('refuses a timeout that is none, and sends nothing', async () => {
    // The time-outs before have made it ask for a sign of life.
    await until(() => handle.status.suspectSince === undefined, { what: 'the answer to the last probe' });
    const pings = server.ledger.requests('ping');
    for (const timeout of [-1, Number.NaN]) {
      const error = await rejection(handle.ping({ timeout }));
      expect(error).toMatchObject({ code: 'invalid-options', connection: handle.name, path: 'timeout' });
    }
    expect(server.ledger.requests('ping')).toBe(pings);
  });
});

it('says nothing about a server before the first handshake', async () => {
  const lazy = supervisor.own('lazy', { transport: { kind: 'http', url: server.url }, lazy: true });
  expect(lazy.getServerCapabilities()).toBeUndefined();
  expect(lazy.getServerVersion()).toBeUndefined();
  expect(lazy.getInstructions()).toBeUndefined();
  expect(server.ledger.initializes()).toBe(0);
  await lazy.listTools();
  expect(lazy.getInstructions()).toBe('A server for tests.');
});
