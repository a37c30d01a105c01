// A `connect` that sends nothing: nothing is said to be well before the server has given a sign of life.

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it } from 'vitest';
import type { Connect, ConnectContext } from '../../src/index.ts';
import { startServer } from '../support/http-server.ts';
import { OddServer } from '../support/odd-server.ts';
import { callTool, type OwnedSettings, own, settled } from '../support/owned.ts';
import { connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const INFO = { name: 'host', version: '1.0.0' };
const PATIENT: OwnedSettings = { recovery: { maxAttempts: 1_000 } };

async function connectWithPrior(url: URL, passFetch = true): Promise<Connect> {
  await using known = await connectV2(url, '2026-07-28');
  const discover = known.client.getDiscoverResult();
  return (async ({ fetch }: ConnectContext) => {
    const client = new ClientV2(INFO, { versionNegotiation: { mode: 'auto' } });
    const transport = new HttpV2(url, passFetch ? { fetch } : {});
    await client.connect(transport, { prior: { kind: 'modern', discover } } as never);
    return client;
  }) as unknown as Connect;
}

/** As SDK v1 resumes a session: it sends no `initialize`. */
const resuming = (url: URL, sessionId: () => string): Connect =>
  (async ({ fetch }: ConnectContext) => {
    const client = new ClientV1(INFO);
    await client.connect(new HttpV1(url, { fetch, sessionId: sessionId() }) as never);
    return client;
  }) as unknown as Connect;

describe.each([true, false])('with what it knew of the server before, our fetch taken: %s', (passFetch) => {
  it('the server is down: no ready, no recreated, and the call goes out when it is up', async () => {
    await using server = await startServer({ transport: 'modern' });
    await using owned = own(await connectWithPrior(server.url, passFetch), PATIENT);
    await callTool(owned, 'append', { key: 'before' });
    await server.stop();
    let up = false;
    const early: string[] = [];
    owned.handle.on('recreated', () => up || early.push('recreated'));
    owned.handle.on('transition', ({ to }) => up || to !== 'ready' || early.push('ready'));
    const call = settled(callTool(owned, 'append', { key: 'down' }));
    await until(() => owned.handle.status.suspectSince !== undefined, { what: 'a refusal' });
    up = true;
    await server.start();
    expect((await call).error).toBeUndefined();
    expect(early).toEqual([]);
    expect(server.ledger.runs('down')).toBe(1);
  });

  it('the first dial and reconnect()', async () => {
    await using server = await startServer({ transport: 'modern' });
    const connect = await connectWithPrior(server.url, passFetch);
    let dials = 0;
    await server.stop();
    const counted: Connect = (context) => {
      dials++;
      return connect(context);
    };
    await using owned = own(counted, PATIENT);
    await until(() => dials > 1, { what: 'a dial that failed' });
    expect(owned.states()).not.toContain('ready');
    await server.start();
    await callTool(owned, 'append', { key: 'first' });
    await server.stop();
    owned.transitions.length = 0;
    dials = 0;
    const again = owned.handle.reconnect();
    again.catch(() => {});
    await until(() => dials > 1, { what: 'a dial that failed' });
    expect(owned.states()).not.toContain('ready');
    await server.start();
    await again;
    expect(server.ledger.runs('first')).toBe(1);
  });
});

it('a handshake of its own is asked nothing more', async () => {
  await using server = await startServer({ transport: 'modern' });
  const connect = async ({ fetch }: ConnectContext) =>
    (await connectV2(server.url, '2026-07-28', { fetch })).client;
  await using owned = own(connect as unknown as Connect);
  await callTool(owned, 'append', { key: 'x' });
  expect(server.ledger.requests('server/discover')).toBe(1);
});

it('a session that is resumed and known: one ping, and it is used', async () => {
  await using server = await startServer();
  await using first = own({ kind: 'http', url: server.url });
  await callTool(first, 'append', { key: 'x' });
  const [sessionId] = await server.sessionIds();
  await using owned = own(resuming(server.url, () => sessionId as string));
  await callTool(owned, 'append', { key: 'resumed' });
  expect([server.ledger.requests('ping'), server.ledger.initializes()]).toEqual([1, 1]);
});

it('a session that is resumed and forgotten: the dial fails, at the usual pace, and sends no DELETE', async () => {
  await using server = await startServer();
  let dials = 0;
  const connect = resuming(server.url, () => {
    dials++;
    return '00000000-0000-4000-8000-000000000000';
  });
  await using owned = own(connect, { recovery: { maxAttempts: 3, coolDownMs: 60_000 } });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
  expect(error).toMatchObject({ name: 'ConnectionUnavailableError' });
  expect(owned.states()).not.toContain('ready');
  expect(dials).toBe(3);
  expect([server.ledger.runs('x'), server.ledger.deletes()]).toEqual([0, 0]);
});

describe('what is answered to it', () => {
  const answering = async (answer: (id: unknown) => { status: number; body?: unknown } | undefined) => {
    const server = await new OddServer().start({
      first: (_req, res, body) => {
        const { id, method } = JSON.parse(body || '{}');
        if (method !== 'ping') return false;
        const answered = answer(id);
        if (answered !== undefined) {
          res.writeHead(answered.status, { 'content-type': 'application/json' });
          res.end(answered.body === undefined ? undefined : JSON.stringify(answered.body));
        }
        return true;
      },
    });
    const owned = own(
      resuming(server.url, () => 'known'),
      { recovery: { maxAttempts: 1, coolDownMs: 60_000 }, liveness: { probeTimeoutMs: 1_000 } },
    );
    const { error } = await settled(callTool(owned, 't', {}));
    await owned[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    return error;
  };
  const rpcError = (id: unknown) => ({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no ping' } });

  it.each([
    ['an error', (id: unknown) => ({ status: 200, body: rpcError(id) })],
    ['an error in a 404', (id: unknown) => ({ status: 404, body: rpcError(id) })],
    ['nothing', () => undefined],
  ])('%s will do', async (_what, answer) => {
    expect(await answering(answer)).toBeUndefined();
  });

  it.each([
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [503, 'http-error'],
    [500, 'gateway-error'],
  ])('%i is a refusal', async (status, cause) => {
    expect(await answering(() => ({ status }))).toMatchObject({
      name: 'ConnectionUnavailableError',
      evidence: { cause },
    });
  });
});
