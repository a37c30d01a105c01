// Revision 2026-07-28 through `connect`: no session, no ping, no initialize; `discover` is the sign of life.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Connect, type ConnectContext, createSupervisor, OutcomeUnknownError } from '../../src/index.ts';
import { EVERY_OPERATION, NOT_IN_2026 } from '../support/every-operation.ts';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };
const tool = (name: string, key: string, extra = {}) => ({ name, arguments: { key, ...extra } });

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

function own(prepare?: (client: Awaited<ReturnType<typeof connectV2>>['client']) => void) {
  const supervisor = createSupervisor({ clientInfo });
  const generations: number[] = [];
  const connect = async ({ fetch, generation }: ConnectContext) => {
    generations.push(generation);
    const raw = await connectV2({ url: proxy.url() }, '2026-07-28', { fetch, elicitation: true });
    prepare?.(raw.client);
    return raw.client as never;
  };
  const handle = supervisor.own('mine', {
    connect: connect as Connect,
    // A restart on a loaded machine takes longer than ten attempts in quick succession.
    recovery: { initialBackoffMs: 50 },
    replay: { tools: { read: 'safe' } },
  });
  return { supervisor, handle, generations };
}

it('a restart of the server loses nothing', async () => {
  const { supervisor, handle, generations } = own();
  await handle.callTool(tool('append', 'before'));
  await server.restart();
  await handle.callTool(tool('append', 'after'));
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  expect(generations).toEqual([1]);
  expect([server.ledger.runs('before'), server.ledger.runs('after')]).toEqual([1, 1]);
  expect(server.ledger.initializes() + server.ledger.deletes()).toBe(0);
  await supervisor.close();
  expect(server.ledger.deletes()).toBe(0);
});

it('every operation of the revision is answered; the rest is refused by the SDK and is no loss', async () => {
  const { supervisor, handle, generations } = own();
  for (const operation of EVERY_OPERATION) {
    if (!NOT_IN_2026.includes(operation.method)) await operation.call(handle);
    else {
      expect(await rejection(operation.call(handle))).toMatchObject({
        code: 'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION',
      });
    }
  }
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  expect(generations).toEqual([1]);
  await supervisor.close();
});

it('404 with -32601 for an unknown method is no loss', async () => {
  const { supervisor, handle, generations } = own();
  await handle.listTools();
  const request = handle.request as unknown as (...args: unknown[]) => Promise<unknown>;
  const { EmptyResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const error = await rejection(request.call(handle, { method: 'no/such', params: {} }, EmptyResultSchema));
  expect(error).not.toMatchObject({ connection: 'mine' });
  expect((error as Error).message).toContain('Method not found');
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  expect(generations).toEqual([1]);
  expect(server.ledger.requests('no/such')).toBe(1);
  await supervisor.close();
});

it('a timeout asks `discover`, and is no loss', async () => {
  const { supervisor, handle, generations } = own();
  await handle.listTools();
  server.ledger.clear();
  const slow = tool('append', 'slow', { holdMs: 800 });
  expect(await rejection(handle.callTool(slow, { timeout: 100 }))).toMatchObject({ code: 'REQUEST_TIMEOUT' });
  await until(() => server.ledger.requests('server/discover') === 1);
  await handle.listTools();
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  expect(generations).toEqual([1]);
  expect(server.ledger.requests('server/discover')).toBe(1);
  expect(server.ledger.requests('ping')).toBe(0);
  await supervisor.close();
});

describe('under a call', () => {
  it('an answer that had become a stream is cut: settled at once, sent once', async () => {
    const { supervisor, handle } = own();
    await handle.listTools();
    const begun = performance.now();
    let steps = 0;
    const call = rejection(
      handle.callTool(tool('progress', 'cut', { steps: 100, everyMs: 50 }), undefined, {
        onprogress: () => {
          steps++;
        },
      }),
    );
    await until(() => steps > 1);
    await server.restart();
    expect(await call).toBeInstanceOf(OutcomeUnknownError);
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(server.ledger.requests('tools/call')).toBe(1);
    await supervisor.close();
  });

  it('killed before an answer began: the safe one is sent again, the other is not', async () => {
    const { supervisor, handle } = own();
    await handle.listTools();
    const unsafe = rejection(handle.callTool(tool('append', 'unsafe', { holdMs: 15_000 })));
    const safe = handle.callTool(tool('read', 'safe', { holdMs: 500 }));
    await until(() => server.ledger.runs() === 2);
    await server.restart();
    expect(await unsafe).toBeInstanceOf(OutcomeUnknownError);
    expect(await safe).toHaveProperty('content');
    expect([server.ledger.runs('unsafe'), server.ledger.runs('safe')]).toEqual([1, 2]);
    await supervisor.close();
  });

  it('a second leg that takes its time is not taken for the first, whose stream has ended', async () => {
    await using streaming = await startServer({ transport: 'modern', answers: 'sse' });
    await using slow = await startProxy(streaming.port);
    const supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.own('legs', {
      connect: async ({ fetch }) => {
        const raw = await connectV2({ url: slow.url() }, '2026-07-28', { fetch, elicitation: true });
        raw.client.setRequestHandler('elicitation/create', async () => {
          slow.next('tools/call', { kind: 'delay', ms: 300 });
          return { action: 'accept', content: { ok: true } };
        });
        return raw.client as never;
      },
    });
    expect(await handle.callTool(tool('elicit', 'slow-leg'))).toHaveProperty('content');
    expect(streaming.ledger.requests('tools/call')).toBe(2);
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    await supervisor.close();
  });
});
