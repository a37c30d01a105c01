// What the fault server does wrong, seen by the plain SDK client: what a client gets, and what is counted.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { EmptyResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FaultMethod, FaultTransport, Reaction } from '../../src/testing/fault-reactions.ts';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { type RawV1, transportV1 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { addressOf, BOTH, CLOSED, call, connect, failure, post } from './fault-clients.ts';

interface Outcome {
  /** What the client gets; nothing: it goes on waiting. */
  error?: object;
  /** What the client hears beside that. */
  heard?: RegExp;
  /** How often the request ran. */
  runs: 0 | 1;
}

const OUTCOMES: Record<FaultTransport, Partial<Record<Reaction, Outcome>>> = {
  http: {
    refuse: { error: { code: 503 }, runs: 0 },
    forbid: { error: { code: 401 }, runs: 0 },
    garbage: { error: { name: 'SyntaxError' }, runs: 0 },
    ignore: { runs: 0 },
    'lose-answer': { heard: /SSE stream disconnected: TypeError: terminated/, runs: 1 },
  },
  stdio: {
    refuse: { error: CLOSED, runs: 0 },
    garbage: { heard: /is not valid JSON/, runs: 0 },
    ignore: { runs: 0 },
    'lose-answer': { error: CLOSED, runs: 1 },
  },
};

/** Nothing else is waited for: it is still unsettled when what was sent after it has been answered. */
async function expectUnanswered({ client }: RawV1, sent: Promise<unknown>): Promise<void> {
  let settled = false;
  const settle = () => {
    settled = true;
  };
  sent.then(settle, settle);
  const next = client.request({ method: 'unknown/method' }, EmptyResultSchema);
  expect(await failure(next)).toMatchObject({ code: -32601 });
  expect(settled).toBe(false);
}

async function expectOutcome(raw: RawV1, sent: Promise<unknown>, { error, heard }: Outcome): Promise<void> {
  sent.catch(() => {}); // what is unanswered fails when the client closes
  if (heard) await until(() => raw.errors.some(({ message }) => heard.test(message)), { what: `${heard}` });
  if (error) expect(await failure(sent)).toMatchObject(error);
  else await expectUnanswered(raw, sent);
}

describe.each(BOTH)('over %s', (transport) => {
  let server: FaultServer;
  beforeAll(async () => {
    server = await FaultServer.start({ transport });
  });
  afterEach(async () => {
    for (const method of ['initialize', 'ping', 'tools/call', 'tools/list'] as const) {
      await server.when(method, 'answer');
    }
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const rows = Object.entries(OUTCOMES[transport]) as [Reaction, Outcome][];

  it.each(rows)('%s, of a request', async (reaction, outcome) => {
    await using raw = await connect(server);
    const before = server.counts();
    await server.when('tools/call', reaction);
    await expectOutcome(raw, call(raw, 'append', reaction), outcome);
    const { toolCalls, executions } = server.counts();
    expect(toolCalls).toBe(before.toolCalls + 1);
    expect(executions[reaction] ?? 0).toBe(outcome.runs);
  });

  it.each(rows)('%s, of a request that was held', async (reaction, outcome) => {
    await using raw = await connect(server);
    await server.when('tools/call', 'hold');
    const key = `${reaction}, held`;
    const sent = call(raw, 'append', key);
    sent.catch(() => {}); // it fails before it is looked at
    await server.until('it is held', ({ held }) => held === 1);
    await server.when('tools/call', reaction);
    await expectOutcome(raw, sent, outcome);
    const { held, executions } = server.counts();
    expect(held).toBe(0);
    expect(executions[key] ?? 0).toBe(outcome.runs);
  });

  it.each(rows)('%s, of the handshake', async (reaction, { error }) => {
    const before = server.counts();
    await server.when('initialize', reaction);
    const client = new Client({ name: 'unlucky', version: '1.0.0' });
    const connecting = failure(client.connect(transportV1(addressOf(server))));
    await server.until('initialize', ({ initializes }) => initializes === before.initializes + 1);
    if (error === undefined) await client.close();
    expect(await connecting).toMatchObject(error ?? CLOSED);
    expect(server.counts()).toMatchObject({ handshakes: before.handshakes });
  });

  it('hold of the handshake', async () => {
    await server.when('initialize', 'hold');
    const connecting = connect(server);
    await server.until('it is held', ({ held }) => held === 1);
    await server.when('initialize', 'answer');
    await using raw = await connecting;
    await raw.client.ping();
    expect(server.counts()).toMatchObject({ held: 0 });
  });

  it('hold: several wait, and are let go by the next reaction for their own method', async () => {
    await using raw = await connect(server);
    await server.when('tools/call', 'hold');
    await server.when('ping', 'hold');
    const calls = [call(raw, 'append', 'one of two'), call(raw, 'read', 'one of two')];
    const ping = raw.client.ping();
    await server.until('three are held', ({ held }) => held === 3);
    await server.when('tools/call', 'hold');
    expect(server.counts()).toMatchObject({ held: 3 });
    expect(server.counts().executions['one of two']).toBeUndefined();
    await server.when('tools/call', 'answer');
    await Promise.all(calls);
    expect(server.counts()).toMatchObject({ held: 1, executions: { 'one of two': 2 } });
    await server.when('ping', 'answer');
    await ping;
    expect(server.counts()).toMatchObject({ held: 0 });
  });

  it('hold: a cancellation takes no request back', async () => {
    await using raw = await connect(server);
    await server.when('tools/call', 'hold');
    const abort = new AbortController();
    const cancelled = failure(call(raw, 'append', 'cancelled', { signal: abort.signal }));
    await server.until('it is held', ({ held }) => held === 1);
    abort.abort();
    await cancelled;
    await raw.client.ping(); // read after the cancellation
    expect(server.counts()).toMatchObject({ held: 1 });
    await server.when('tools/call', 'answer');
    await server.until('it has run', ({ held, executions }) => held === 0 && executions.cancelled === 1);
  });

  it('when: a TypeError for what it does not know', async () => {
    for (const [method, reaction, message] of [
      ['tools/cal', 'answer', 'the method must be one of initialize, ping, tools/call, tools/list'],
      ['toString', 'answer', 'the method must be one of'],
      ['ping', 'explode', 'the reaction must be one of answer, hold, refuse'],
      ['ping', undefined, 'the reaction must be one of'],
    ]) {
      const error = await failure(server.when(method as FaultMethod, reaction as Reaction));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toContain(message);
    }
  });

  if (transport === 'http') {
    it.each(rows)('%s, of other requests', async (reaction, outcome) => {
      await using raw = await connect(server);
      const { pings } = server.counts();
      await server.when('ping', reaction);
      await server.when('tools/list', reaction);
      await expectOutcome(raw, raw.client.ping(), outcome);
      await expectOutcome(raw, raw.client.listTools(), outcome);
      expect(server.counts()).toMatchObject({ pings: pings + 1 });
    });
  }
});

it('over http, the end of its connection takes no held request back', async () => {
  await using server = await FaultServer.start();
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { headers } = await post(server, { method: 'initialize', params }).answer;
  await server.until('no connection', ({ sockets }) => sockets === 0);

  await server.when('tools/call', 'hold');
  const { request, answer } = post(
    server,
    { method: 'tools/call', params: { name: 'append', arguments: { key: 'a' } } },
    { 'mcp-session-id': headers['mcp-session-id'] },
  );
  await server.until('it is held', ({ held, sockets }) => held === 1 && sockets === 1);
  request.destroy();
  await failure(answer);
  await server.until('its connection has ended', ({ sockets }) => sockets === 0);
  expect(server.counts()).toMatchObject({ held: 1, executions: {} });
  await server.when('tools/call', 'answer');
  await server.until('it has run', ({ held, executions }) => held === 0 && executions.a === 1);
});

it('over stdio, forbid lets the process that runs go on, and nobody spawn the next', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using raw = await connect(server);
  await server.when('initialize', 'forbid');
  await call(raw, 'append', 'a');
  const notSpawned = await failure(connect(server));
  expect(notSpawned).toMatchObject({ code: 'ENOENT', syscall: expect.stringMatching(/^spawn /) });
  expect(server.counts()).toMatchObject({ processes: 1, initializes: 1, executions: { a: 1 } });
  await server.when('initialize', 'answer');
  await using again = await connect(server);
  await again.client.ping();

  const error = await failure(server.when('ping', 'forbid'));
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain('over stdio only initialize can be forbidden, not ping');
});
