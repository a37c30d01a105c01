// Revision 2026-07-28 on a client of the caller's: a call of several requests, between which the caller's own handler
// answers. Its transport stays untouched, so the requests are counted by what the SDK reads of their parameters.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CallerOwnedConnectionLostError, createSupervisor } from '../../src/index.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { connectV2, type RawV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const YES = { action: 'accept', content: { ok: true } } as const;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ transport: 'modern' });
});
beforeEach(() => server.ledger.clear());
afterAll(() => server[Symbol.asyncDispose]());

const SUPPLIES = ['client', 'session', 'bare session'] as const;

async function lent(
  supply: (typeof SUPPLIES)[number],
  answer: (mine: RawV2['client'], signal: AbortSignal) => unknown,
) {
  const { client } = await connectV2(server, '2026-07-28', { elicitation: true });
  let asked = 0;
  client.setRequestHandler('elicitation/create', (async (_: unknown, { mcpReq }: never) => {
    asked++;
    return answer(client, (mcpReq as { signal: AbortSignal }).signal);
  }) as never);
  const { transport } = client;
  const send = transport?.send;
  const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1' } });
  const handle =
    supply === 'client'
      ? supervisor.adopt('mine', client as never)
      : supervisor.adoptSession(
          'mine',
          (supply === 'session' ? client : { request: client.request.bind(client) }) as never,
        );
  return {
    handle,
    asked: () => asked,
    ask: (key: string, times = 1, options = {}) =>
      handle.callTool({ name: 'elicit', arguments: { key, times } }, options),
    async [Symbol.asyncDispose]() {
      expect(client.transport?.send, 'the transport is as it was').toBe(client.transport && send);
      await supervisor.close();
      await client.close();
    },
  };
}

const HOSTS_OWN: Record<string, () => unknown> = {
  'its model is down': () =>
    Object.assign(new TypeError('fetch failed'), {
      cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }),
    }),
  'its own client is not connected': () => new Error('Not connected'),
  'its own client was closed': () =>
    Object.assign(new Error('Connection closed'), { name: 'SdkError', code: 'CONNECTION_CLOSED' }),
  'the session of its own client has ended': () =>
    Object.assign(new Error('MCP error -32600: Session terminated'), { name: 'McpError', code: -32600 }),
};

describe.each(SUPPLIES)('%s', (supply) => {
  it.each(Object.entries(HOSTS_OWN))('the caller cannot answer: %s', async (what, make) => {
    // What does not show its version is believed in what it says of its session.
    if (supply === 'bare session' && what.startsWith('the session')) return;
    const thrown = make();
    await using mine = await lent(supply, () => {
      if (mine.asked() < 2) return YES;
      throw thrown;
    });
    expect(await rejection(mine.ask('own', 2))).toBe(thrown);
    await mine.handle.callTool({ name: 'append', arguments: { key: 'next' } });
    expect(mine.handle.state).toBe('ready');
    expect([server.ledger.runs('own'), mine.asked()]).toEqual([2, 2]);
  });

  it('an answer goes out as without us', async () => {
    await using mine = await lent(supply, () => YES);
    expect(await mine.ask('good', 3)).toHaveProperty('content');
    expect([server.ledger.runs('good'), mine.asked()]).toEqual([4, 3]);
  });

  it('the client is closed while a person is asked: nobody says that nothing has run', async () => {
    await using mine = await lent(supply, async (client) => {
      await client.close();
      return YES;
    });
    const error = await rejection(mine.ask('closed'));
    expect(error).toBeInstanceOf(CallerOwnedConnectionLostError);
    expect(error).toMatchObject({ evidence: { execution: 'unknown' } });
    expect((error as Error).message).toContain('may have run');
    expect([server.ledger.runs('closed'), mine.asked()]).toEqual([1, 1]);
  });
});

it('the caller aborts while a person is asked: at once, as the SDK would say it', async () => {
  let signal: AbortSignal | undefined;
  await using mine = await lent('client', (_client, heard) => {
    signal = heard;
    return new Promise(() => {});
  });
  const controller = new AbortController();
  const call = rejection(mine.ask('abort', 1, { signal: controller.signal }));
  await until(() => mine.asked() === 1);
  controller.abort(new Error('enough'));
  expect(await call).toMatchObject({ name: 'SdkError', code: 'REQUEST_TIMEOUT', message: 'Error: enough' });
  expect(signal?.aborted).toBe(true);
  expect(server.ledger.runs('abort')).toBe(1);
});
