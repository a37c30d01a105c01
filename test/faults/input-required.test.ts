// Revision 2026-07-28: a call that the server answers with a question is several requests, and a person is asked in
// between. What the server counted: its tool runs once for each request of a call.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConnectContext,
  createSupervisor,
  type Logger,
  OutcomeUnknownError,
  type OwnOptions,
} from '../../src/index.ts';
import { deferred } from '../support/deferred.ts';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

const YES = { action: 'accept', content: { ok: true } } as const;
type Answer = (signal: AbortSignal) => unknown;

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

/** `answer`: what the host's person says to each question. */
async function host(answer: Answer, options: Partial<OwnOptions> = {}, logger?: Logger) {
  const supervisor = createSupervisor({
    clientInfo: { name: 'host', version: '1' },
    ...(logger && { logger }),
  });
  let asked = 0;
  const handle = supervisor.own('mine', {
    connect: async ({ fetch }: ConnectContext) => {
      const { client } = await connectV2({ url: proxy.url() }, '2026-07-28', { fetch, elicitation: true });
      client.setRequestHandler('elicitation/create', (async (_: unknown, { mcpReq }: never) => {
        asked++;
        return answer((mcpReq as { signal: AbortSignal }).signal);
      }) as never);
      return client as never;
    },
    ...(options as object),
  });
  await handle.listTools();
  return {
    supervisor,
    handle,
    asked: () => asked,
    ask: (key: string, times = 1, callOptions = {}) =>
      handle.callTool({ name: 'elicit', arguments: { key, times } }, callOptions),
    [Symbol.asyncDispose]: () => supervisor.close(),
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
  'its own server has forgotten a session': () =>
    Object.assign(new Error('Streamable HTTP error'), { name: 'SdkHttpError', code: 404, status: 404 }),
  'its own call has timed out': () =>
    Object.assign(new Error('Request timed out'), { name: 'SdkError', code: 'REQUEST_TIMEOUT' }),
  'it throws no error': () => 'no',
};

describe.each(Object.entries(HOSTS_OWN))('the host cannot answer: %s', (_what, make) => {
  it.each([1, 2])('question %i: the caller gets that very error, and the connection stays', async (which) => {
    const thrown = make();
    let questions = 0;
    await using mine = await host(
      () => {
        questions++;
        if (questions < which) return YES;
        throw thrown;
      },
      { replay: { tools: { elicit: 'safe' } } },
    );
    expect(await rejection(mine.ask('own', 2))).toBe(thrown);
    await mine.handle.callTool({ name: 'append', arguments: { key: 'next' } });
    expect(mine.handle).toMatchObject({ state: 'ready', generation: 1 });
    expect(mine.handle.status.suspectSince).toBeUndefined();
    expect([server.ledger.runs('own'), mine.asked()]).toEqual([which, which]);
    expect(server.ledger.requests('server/discover'), 'nothing is probed').toBe(1);
  });
});

describe('a request of a call that was answered before', () => {
  it('is refused, and sent again when the server is back: asked once, each request run once', async () => {
    await using mine = await host(async () => {
      if (mine.asked() === 2) await proxy.refuse();
      return YES;
    });
    const call = mine.ask('legs', 3);
    await until(() => mine.handle.status.suspectSince !== undefined, { what: 'the refusal' });
    await proxy.reopen();
    expect(await call).toHaveProperty('content');
    expect([server.ledger.runs('legs'), mine.asked()]).toEqual([4, 3]);
    expect(mine.handle).toMatchObject({ state: 'ready', generation: 1 });
  });

  it('is refused, and cut when it is sent again: nobody says that it was not run', async () => {
    const said: { execution?: unknown; text: string }[] = [];
    const say = (facts: object, text: string) => void said.push({ ...facts, text });
    await using mine = await host(
      async () => {
        proxy.next('tools/call', { kind: 'cut', how: 'rst', forwarded: true });
        await proxy.refuse();
        return YES;
      },
      {},
      { debug: say, info: say, warn: say, error: say } as Logger,
    );
    const call = rejection(mine.ask('twice'));
    await until(() => mine.handle.status.suspectSince !== undefined, { what: 'the refusal' });
    await proxy.reopen();
    expect(await call).toBeInstanceOf(OutcomeUnknownError);
    expect([server.ledger.runs('twice'), mine.asked()]).toEqual([2, 1]);
    const after = said.slice(said.findIndex(({ text }) => text === 'Operation sent again') + 1);
    expect(after.map(({ execution }) => execution)).toContain('unknown');
    expect(after.map(({ execution }) => execution)).not.toContain('none');
  });

  it('is not sent again where the policy is `never`', async () => {
    await using mine = await host(
      async () => {
        await proxy.refuse();
        return YES;
      },
      { replay: { tools: { elicit: 'never' } } },
    );
    const error = await rejection(mine.ask('never'));
    await proxy.reopen();
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    await mine.handle.listTools();
    expect([server.ledger.runs('never'), mine.asked()]).toEqual([1, 1]);
  });

  it('is refused for longer than it may take: unknown', async () => {
    await using mine = await host(async () => {
      await proxy.refuse();
      return YES;
    });
    const error = await rejection(mine.ask('long', 1, { timeout: 500 }));
    await proxy.reopen();
    expect(error).not.toMatchObject({ evidence: { execution: 'none' } });
    await mine.handle.listTools();
    expect([server.ledger.runs('long'), mine.asked()]).toEqual([1, 1]);
  });

  it.each(['rst', 'fin'] as const)(
    'is cut (%s) after the server ran it: unknown, not even a safe one again',
    async (how) => {
      await using mine = await host(
        () => {
          proxy.next('tools/call', { kind: 'cut', how, forwarded: true });
          return YES;
        },
        { replay: { tools: { elicit: 'safe' } } },
      );
      expect(await rejection(mine.ask('cut'))).toBeInstanceOf(OutcomeUnknownError);
      await mine.handle.listTools();
      expect([server.ledger.runs('cut'), mine.asked()]).toEqual([2, 1]);
      expect(mine.handle.generation).toBe(1);
    },
  );

  it('is turned away by a gateway twice: it is sent no more', async () => {
    await using mine = await host(() => {
      proxy.next('tools/call', { kind: 'answer', status: 502, forwarded: false });
      return YES;
    });
    expect(await rejection(mine.ask('gateway'))).toBeInstanceOf(OutcomeUnknownError);
    expect([server.ledger.runs('gateway'), mine.asked()]).toEqual([1, 1]);
  });
});

describe('while a person is asked', () => {
  /** A question that nobody answers before the test does. */
  async function asked(options: Partial<OwnOptions> = {}, callOptions = {}) {
    const answer = deferred<unknown>();
    let signal: AbortSignal | undefined;
    const mine = await host((heard) => {
      signal = heard;
      return answer.promise;
    }, options);
    let settled = false;
    const call = mine.ask('asked', 1, callOptions).then(
      (value) => ({ value, error: undefined as unknown }),
      (error: unknown) => ({ value: undefined, error }),
    );
    void call.then(() => {
      settled = true;
    });
    await until(() => mine.asked() === 1, { what: 'the question' });
    return { ...mine, call, answer, signal: () => signal as AbortSignal, settled: () => settled };
  }

  it.each(['close', 'reconnect'] as const)(
    '%s() settles the call at the drain limit, as unknown',
    async (act) => {
      await using mine = await asked({ timeouts: { drainTimeoutMs: 50 } } as never);
      await mine.handle[act]();
      if (act === 'close') expect(mine.settled(), 'before close() resolves').toBe(true);
      const { error } = await mine.call;
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(mine.signal().aborted, 'the handler is told').toBe(true);
      mine.answer.resolve(YES);
      if (act === 'reconnect') await mine.handle.callTool({ name: 'append', arguments: { key: 'next' } });
      expect([server.ledger.runs('asked'), mine.asked()], 'nothing more reaches the wire').toEqual([1, 1]);
    },
  );

  it('the generation is lost, and waits for another call: unknown at the drain limit all the same', async () => {
    await using mine = await asked({ timeouts: { drainTimeoutMs: 50 } } as never);
    const open = mine.handle.callTool({ name: 'append', arguments: { key: 'open', holdMs: 2_000 } });
    await until(() => server.ledger.runs('open') === 1);
    const body = {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32022, message: 'Unsupported', data: { supported: [] } },
    };
    const refusal = { kind: 'answer', status: 400, forwarded: false, body: JSON.stringify(body) } as const;
    proxy.next('tools/list', { ...refusal, contentType: 'application/json' });
    await mine.handle.listTools();
    expect(mine.handle.generation).toBe(2);
    expect((await mine.call).error).toBeInstanceOf(OutcomeUnknownError);
    expect(mine.signal().aborted).toBe(true);
    expect(await open).toHaveProperty('content');
    expect(server.ledger.runs('asked')).toBe(1);
  });

  it('an answer within the drain limit goes out on the old client', async () => {
    await using mine = await asked();
    const done = mine.handle.reconnect();
    mine.answer.resolve(YES);
    await done;
    expect((await mine.call).value).toHaveProperty('content');
    expect([server.ledger.runs('asked'), mine.asked()]).toEqual([2, 1]);
  });

  it('the caller aborts: at once, as the SDK would say it', async () => {
    const controller = new AbortController();
    await using mine = await asked({}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    const { error } = await mine.call;
    expect(error).toMatchObject({ name: 'SdkError', code: 'REQUEST_TIMEOUT', message: 'Error: enough' });
    expect(mine.signal().aborted).toBe(true);
    mine.answer.resolve(YES);
    await mine.handle.listTools();
    expect(server.ledger.runs('asked')).toBe(1);
    expect(mine.handle).toMatchObject({ state: 'ready', generation: 1, status: { inFlight: 0 } });
  });

  it('the total time of the call passes: at once', async () => {
    await using mine = await asked({}, { maxTotalTimeout: 100 });
    const { error } = await mine.call;
    expect(error).toMatchObject({ code: 'REQUEST_TIMEOUT' });
    expect(mine.signal().aborted).toBe(true);
    mine.answer.resolve(YES);
    await mine.handle.listTools();
    expect(server.ledger.runs('asked')).toBe(1);
  });

  it('the timeout of one request does not count while a person thinks', async () => {
    await using mine = await asked({}, { timeout: 300 });
    await new Promise((resolve) => setTimeout(resolve, 400));
    mine.answer.resolve(YES);
    expect((await mine.call).value).toHaveProperty('content');
    expect(server.ledger.runs('asked')).toBe(2);
  });
});

describe('`allowInputRequired`: each request is a call of its own', () => {
  it('one that is refused did not run, and is sent when the server is back', async () => {
    await using mine = await host(() => YES);
    const options = { allowInputRequired: true } as object;
    const first = (await mine.ask('manual', 1, options)) as unknown as Record<string, unknown>;
    expect(first).toMatchObject({ resultType: 'input_required' });
    await proxy.refuse();
    const second = mine.handle.callTool(
      {
        name: 'elicit',
        arguments: { key: 'manual', times: 1 },
        inputResponses: { answer: YES },
        requestState: first.requestState,
      } as never,
      options,
    );
    await until(() => mine.handle.status.suspectSince !== undefined || mine.handle.state !== 'ready');
    await proxy.reopen();
    expect(await second).toHaveProperty('content');
    expect([server.ledger.runs('manual'), mine.asked()]).toEqual([2, 0]);
  });
});
