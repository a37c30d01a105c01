// Calls that arrive while the connection is being recreated: they wait, or not, each within its one deadline.

import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/http-server.ts';
import {
  callTool,
  expectEnding,
  http,
  type Owned,
  type OwnedSettings,
  own,
  settled,
} from '../support/owned.ts';
import { until } from '../support/until.ts';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server[Symbol.asyncDispose]());

/** An owned connection that is held in the middle of its second handshake. */
async function heldInRecreating(settings: OwnedSettings = {}): Promise<Owned> {
  const owned = own(http(server.url), { timeouts: { connectTimeoutMs: 15_000 }, ...settings });
  await owned.ready();
  server.ledger.clear();
  await server.fault({ on: 'initialize', kind: 'hold' });
  void owned.handle.reconnect().catch(() => {});
  await until(() => server.ledger.requests('initialize') === 1);
  expect(owned.handle.state).toBe('recreating');
  return owned;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('waitForReady', () => {
  it('true: waits, and is sent once', async () => {
    await using owned = await heldInRecreating();
    const calls = ['a', 'b'].map((key) => settled(callTool(owned, 'append', { key })));
    expect(owned.handle.status.waiting).toBe(2);
    expect(server.ledger.requests('tools/call')).toBe(0);
    await server.release();
    for (const end of await Promise.all(calls)) expectEnding(end, 'answered');
    expect(server.ledger.runs('a')).toBe(1);
    expect(server.ledger.runs('b')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle.status.waiting).toBe(0);
  });

  it('false: fails at once, and sends nothing', async () => {
    await using owned = await heldInRecreating({ recovery: { waitForReady: false } });
    const { error } = await settled(callTool(owned, 'append', { key: 'a' }, 60_000));
    expect(error).toMatchObject({ name: 'ConnectionUnavailableError', code: 'unavailable' });
    expect(String(error)).toContain('waitForReady');
    expect(owned.handle.state).toBe('recreating');
    await server.release();
    await owned.ready();
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('a')).toBe(0);
    expect(server.ledger.runs('later')).toBe(1);
  });

  it('maxWaiting: whoever comes after it fails at once', async () => {
    await using owned = await heldInRecreating({ recovery: { maxWaiting: 2 } });
    const calls = ['a', 'b'].map((key) => settled(callTool(owned, 'append', { key })));
    const { error } = await settled(callTool(owned, 'append', { key: 'c' }, 60_000));
    expect(error).toMatchObject({ name: 'ConnectionUnavailableError' });
    expect(String(error)).toContain('maxWaiting');
    await server.release();
    for (const end of await Promise.all(calls)) expectEnding(end, 'answered');
    expect(server.ledger.runs()).toBe(2);
    expect(server.ledger.runs('c')).toBe(0);
  });
});

describe('one deadline', () => {
  it('ends the waiting', async () => {
    await using owned = await heldInRecreating();
    const end = await settled(callTool(owned, 'append', { key: 'a' }, 200));
    expect(end.error).toMatchObject({ name: 'ConnectionUnavailableError' });
    expect(end.ms).toBeGreaterThanOrEqual(190);
    expect(end.ms).toBeLessThan(1_500);
    expect(owned.handle.status.waiting).toBe(0);
    await server.release();
    await owned.ready();
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('a'), 'it is not sent after its deadline').toBe(0);
  });

  it('covers the waiting and the send that follows', async () => {
    await using owned = await heldInRecreating();
    const call = settled(callTool(owned, 'append', { key: 'a', holdMs: 60_000 }, 1_500));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await server.release();
    const end = await call;
    expectEnding(end, { passes: { name: 'McpError', code: -32001 } });
    expect(end.ms).toBeLessThan(2_300);
    expect(server.ledger.runs('a')).toBe(1);
  });

  it('covers the first send and the replay', async () => {
    await using owned = own(http(server.url));
    await owned.ready();
    await server.evict();
    await server.fault({ kind: 'delay', ms: 1_000 });
    const end = await settled(callTool(owned, 'append', { key: 'a', holdMs: 60_000 }, 1_500));
    expectEnding(end, { passes: { name: 'McpError', code: -32001 } });
    expect(end.ms).toBeLessThan(2_300);
    expect(server.ledger.runs('a')).toBe(1);
    expect(server.ledger.initializes()).toBe(2);
  });
});

describe('abort', () => {
  it('while waiting: leaves at once, sends nothing, and counts against no budget', async () => {
    await using owned = await heldInRecreating({ recovery: { maxAttempts: 2 } });
    const controller = new AbortController();
    const call = owned.handle.callTool({ name: 'append', arguments: { key: 'a' } }, undefined, {
      signal: controller.signal,
    });
    const left = settled(call);
    await turn();
    controller.abort(new Error('no longer wanted'));
    const { error } = await left;
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({
      code: ErrorCode.RequestTimeout,
      message: 'MCP error -32001: Error: no longer wanted',
    });
    expect(owned.handle.state).toBe('recreating');
    expect(owned.handle.status.waiting).toBe(0);
    await server.release();
    await owned.ready();
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.count('request', ({ key }) => key === 'a')).toBe(0);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle.generation).toBe(2);
  });

  it('before the call: sends nothing, and opens nothing', async () => {
    await using owned = own(http(server.url), { lazy: true });
    const reason = new Error('never wanted');
    const call = owned.handle.callTool({ name: 'append', arguments: { key: 'a' } }, undefined, {
      signal: AbortSignal.abort(reason),
    });
    await expect(call).rejects.toBe(reason);
    await turn();
    expect(owned.handle.state).toBe('idle');
    expect(server.ledger.events('request')).toEqual([]);
    await callTool(owned, 'append', { key: 'b' });
    expect(server.ledger.runs('b')).toBe(1);
  });

  it('in flight: no loss, no probe, no replay', async () => {
    await using owned = own(http(server.url), { replay: { tools: { append: 'safe' } } });
    await owned.ready();
    const controller = new AbortController();
    const call = settled(
      owned.handle.callTool({ name: 'append', arguments: { key: 'a', holdMs: 60_000 } }, undefined, {
        signal: controller.signal,
      }),
    );
    await until(() => server.ledger.runs('a') === 1);
    controller.abort();
    expect((await call).error).toBeDefined();
    await until(() => server.ledger.count('cancelled') === 1);
    await callTool(owned, 'append', { key: 'later' });
    expect(server.ledger.runs('a')).toBe(1);
    expect(server.ledger.requests('ping')).toBe(0);
    expect(server.ledger.initializes()).toBe(1);
    expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
  });
});
