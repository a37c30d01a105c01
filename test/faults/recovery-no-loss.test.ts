// A timeout, a JSON-RPC error and an `isError` result are no loss: at most one probe, no new generation, no replay.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../support/faults.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { callTool, expectEnding, http, type Owned, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

let server: TestServer;
let owned: Owned;
beforeAll(async () => {
  server = await startServer();
  owned = own(http(server.url), { replay: { tools: { append: 'safe' } } });
  await owned.ready();
});
afterAll(async () => {
  await owned[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => server.ledger.clear());

async function expectWell(pings: number): Promise<void> {
  await callTool(owned, 'echo', { text: 'still here' });
  expect(server.ledger.requests('ping')).toBe(pings);
  expect(server.ledger.initializes()).toBe(0);
  expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
  expect(owned.states()).not.toContain('lost');
}

describe('an answer of the server', () => {
  it.each([
    [-32602, 'Invalid params'],
    [-32603, 'Internal error'],
    [-32603, 'Session terminated'],
    [-32600, 'Session terminated by an administrator'],
    [-32000, 'Connection closed'],
    [404, 'Not found'],
  ])('JSON-RPC error %i "%s"', async (code, message) => {
    await server.fault({ kind: 'rpc-error', code, message, when: 'after' });
    const end = await settled(callTool(owned, 'append', { key: 'x' }));
    expectEnding(end, { passes: { name: 'McpError', code, message: `MCP error ${code}: ${message}` } });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.requests('tools/call')).toBe(1);
    await expectWell(0);
  });

  const suspicious: [string, Fault, object][] = [
    [
      '-32001, in-band',
      { kind: 'rpc-error', code: -32001, message: 'Session not found', when: 'after' },
      { name: 'McpError', code: -32001 },
    ],
    [
      'the same fields as a timeout of the SDK',
      { kind: 'rpc-error', code: -32001, message: 'Request timed out', data: { timeout: 1 }, when: 'after' },
      { name: 'McpError', code: -32001 },
    ],
    [
      'Session terminated before the request completed',
      {
        kind: 'rpc-error',
        code: -32603,
        message: 'Session terminated before the request completed',
        when: 'after',
      },
      { name: 'McpError', code: -32603 },
    ],
  ];
  it.each(suspicious)('%s: one probe clears it, and nothing is sent again', async (_name, fault, passes) => {
    await server.fault(fault);
    expectEnding(await settled(callTool(owned, 'append', { key: 'x' })), { passes });
    expect(server.ledger.runs('x')).toBe(1);
    await expectWell(1);
  });

  it('an isError result, whatever it says', async () => {
    const end = await settled(callTool(owned, 'fails', { key: 'x' }));
    expect(end.result).toMatchObject({ isError: true, content: [{ text: 'Session terminated' }] });
    expect(server.ledger.runs('x')).toBe(1);
    await expectWell(0);
  });

  it('a ping that is answered with -32601 is a sign of life', async () => {
    await server.fault({ on: 'ping', kind: 'rpc-error', code: -32601, message: 'Method not found' });
    const end = await settled(callTool(owned, 'append', { key: 'x', holdMs: 60_000 }, 100));
    expectEnding(end, { passes: { code: -32001 } });
    await until(() => server.ledger.requests('ping') === 1);
    await expectWell(1);
  });
});

it('a hundred failed calls leave no more sockets than one', async () => {
  const call = () => settled(callTool(owned, 'rpcError', { code: -32603, message: 'no' }));
  await call();
  const sockets = await server.sockets();
  for (let n = 0; n < 100; n++) expectEnding(await call(), { passes: { code: -32603 } });
  // One for the calls, one for the GET stream, one that may have been busy just then.
  expect(await server.sockets()).toBeLessThanOrEqual(sockets + 1);
  expect(owned.handle.status).toMatchObject({ inFlight: 0, waiting: 0 });
  await expectWell(0);
});

describe('a timeout', () => {
  it('while idle: one probe; the call is not sent again though it is declared safe', async () => {
    const end = await settled(callTool(owned, 'append', { key: 'x', holdMs: 60_000 }, 150));
    expectEnding(end, { passes: { name: 'McpError', code: -32001, data: { timeout: 150 } } });
    await until(() => server.ledger.requests('ping') === 1);
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.requests('tools/call')).toBe(1);
    await expectWell(1);
  });

  it('while others are in flight: one probe too, and they go on', async () => {
    const busy = settled(callTool(owned, 'append', { key: 'busy', holdMs: 600 }));
    await until(() => server.ledger.runs('busy') === 1);
    const end = await settled(callTool(owned, 'append', { key: 'x', holdMs: 60_000 }, 100));
    expectEnding(end, { passes: { code: -32001 } });
    await until(() => server.ledger.requests('ping') === 1);
    expectEnding(await busy, 'answered');
    expect(server.ledger.runs('busy')).toBe(1);
    await expectWell(1);
  });

  it('of every call at once: one probe', async () => {
    const calls = Array.from({ length: 5 }, (_, n) =>
      settled(callTool(owned, 'append', { key: `x${n}`, holdMs: 60_000 }, 200)),
    );
    for (const end of await Promise.all(calls)) expectEnding(end, { passes: { code: -32001 } });
    await until(() => server.ledger.requests('ping') >= 1);
    expect(server.ledger.count('run', ({ tool }) => tool === 'append')).toBe(5);
    await expectWell(1);
  });
});

describe('is a loss, in spite of being a JSON-RPC error', () => {
  it.each([32600, -32600])('"Session terminated" with %i: how the Python SDK relays a 404', async (code) => {
    await using other = own(http(server.url));
    await other.ready();
    server.ledger.clear();
    await server.fault({ kind: 'rpc-error', code, message: 'Session terminated' });
    await callTool(other, 'append', { key: 'x' });
    expect(server.ledger.runs('x')).toBe(1);
    expect(server.ledger.initializes()).toBe(1);
    expect(other.handle.generation).toBe(2);
  });
});
