// An abort reaches the caller as the raw SDK client gives it, wherever the operation is at that moment.

import { SdkError as SdkErrorV2 } from '@modelcontextprotocol/client';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Connect,
  type ConnectContext,
  createSupervisor,
  type OwnedConnection,
} from '../../src/index.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { settled } from '../support/owned.ts';
import { connectV1, connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server[Symbol.asyncDispose]());

/** What a host can tell apart. */
function shape(error: unknown): object {
  const { name, code, message, data } = error as Error & { code?: unknown; data?: unknown };
  const isMcpError = error instanceof McpError;
  const isSdkError = error instanceof SdkErrorV2;
  return { name, code, message, data, isMcpError, isSdkError, isError: error instanceof Error };
}

interface Caller {
  callTool: OwnedConnection['callTool'];
}

const clients = {
  v1: (options?: object) => connectV1(server, options),
  v2: (options?: object) => connectV2(server, 'legacy', options),
};

const REASONS: [string, () => unknown][] = [
  ['an error', () => new Error('no longer wanted')],
  ['no reason', () => undefined],
  ['a text', () => 'enough'],
];

describe.each(['v1', 'v2'] as const)('%s', (sdk) => {
  const own = () => {
    const connect = async ({ fetch }: ConnectContext) => (await clients[sdk]({ fetch })).client;
    const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
    const handle = supervisor.own('files', { connect: connect as unknown as Connect });
    return { supervisor, handle };
  };
  const call = (to: Caller, signal: AbortSignal, key: string) => {
    const params = { name: 'append', arguments: { key, holdMs: 60_000 } };
    // v2 takes no schema; both take it from a handle.
    const args = sdk === 'v2' ? [params, { signal }] : [params, undefined, { signal }];
    return settled((to.callTool as (...args: unknown[]) => Promise<unknown>)(...args));
  };
  const inFlight = async (to: Caller, reason: unknown, key: string) => {
    const controller = new AbortController();
    const outcome = call(to, controller.signal, key);
    await until(() => server.ledger.runs(key) === 1);
    controller.abort(reason);
    return shape((await outcome).error);
  };

  it.each(REASONS)('in flight, and while it waits: %s', async (_name, reason) => {
    await using raw = await clients[sdk]();
    const expected = await inFlight(raw.client as unknown as Caller, reason(), 'raw');
    const { supervisor, handle } = own();
    await using _closed = supervisor;
    await handle.ready();
    expect(await inFlight(handle, reason(), 'ours')).toEqual(expected);

    await server.fault({ on: 'initialize', kind: 'hold' });
    const reconnected = handle.reconnect();
    await until(() => server.ledger.count('fault') === 1);
    const controller = new AbortController();
    const waiting = call(handle, controller.signal, 'waiting');
    expect(handle.status.waiting).toBe(1);
    controller.abort(reason());
    expect(shape((await waiting).error)).toEqual(expected);
    await server.release();
    await reconnected;
    expect(server.ledger.count('request', ({ key }) => key === 'waiting')).toBe(0);
  });

  it.each(REASONS)('before the call, ready or not: %s', async (_name, reason) => {
    await using raw = await clients[sdk]();
    const before = async (to: Caller) => shape((await call(to, AbortSignal.abort(reason()), 'never')).error);
    const expected = await before(raw.client as unknown as Caller);
    const { supervisor, handle } = own();
    await using _closed = supervisor;
    await handle.ready();
    expect(await before(handle)).toEqual(expected);

    await server.fault({ on: 'initialize', kind: 'hold' });
    const reconnected = handle.reconnect();
    await until(() => server.ledger.count('fault') === 1);
    expect(await before(handle)).toEqual(expected);
    await server.release();
    await reconnected;
    expect(server.ledger.runs('never')).toBe(0);
  });
});
