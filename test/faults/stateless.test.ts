// Streamable HTTP without a session (2026-07-28, and servers of 2025 that give none): there is nothing to lose. The
// same client goes on when its server is back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ConnectionUnavailableError,
  createSupervisor,
  OutcomeUnknownError,
  type OwnOptions,
} from '../../src/index.ts';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import { type ServerOptions, startServer, type TestServer } from '../support/http-server.ts';
import { rejection } from '../support/lent.ts';
import { connectV1, connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

interface Way {
  readonly name: string;
  readonly server: ServerOptions;
  connect(url: URL, fetch?: typeof globalThis.fetch): Promise<unknown>;
}

const WAYS: readonly Way[] = [
  {
    name: 'SDK v1, 2025',
    server: { transport: 'stateless' },
    connect: async (url, fetch) => (await connectV1({ url }, { ...(fetch && { fetch }) })).client,
  },
  {
    name: 'SDK v2, 2025',
    server: { transport: 'stateless', answers: 'json' },
    connect: async (url, fetch) => (await connectV2({ url }, 'legacy', { ...(fetch && { fetch }) })).client,
  },
  {
    name: 'SDK v2, 2026-07-28',
    server: { transport: 'modern' },
    connect: async (url, fetch) =>
      (await connectV2({ url }, '2026-07-28', { ...(fetch && { fetch }) })).client,
  },
  {
    name: 'SDK v2, 2026-07-28, SSE',
    server: { transport: 'modern', answers: 'sse' },
    connect: async (url, fetch) => (await connectV2({ url }, 'auto', { ...(fetch && { fetch }) })).client,
  },
];

const append = (key: string, more = {}) => ({ name: 'append', arguments: { key, ...more } });

describe.each(WAYS)('$name', ({ server: options, connect }) => {
  let server: TestServer;
  let proxy: FaultProxy;
  beforeAll(async () => {
    server = await startServer(options);
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

  async function own(more: Partial<OwnOptions> = {}) {
    let asksAgain = false;
    const supervisor = createSupervisor({
      clientInfo: { name: 'host', version: '1' },
      inspect: (event) => {
        if (event.type === '@xstate.snapshot') {
          asksAgain ||= JSON.stringify(event.snapshot).includes('"value":{"ready":"unreachable"}');
        }
      },
    });
    const said: string[] = [];
    const handle = supervisor.own('mine', {
      connect: ({ fetch }) => connect(proxy.url(), fetch) as never,
      replay: { tools: { read: 'safe' } },
      ...(more as object),
    });
    for (const event of ['lost', 'recreated', 'transition'] as const)
      handle.on(event, () => said.push(event));
    await handle.ready();
    await handle.callTool(append('first'));
    said.length = 0;
    const staysAsItWas = () => {
      expect(handle).toMatchObject({ state: 'ready', generation: 1 });
      expect(said).toEqual([]);
    };
    return {
      supervisor,
      handle,
      staysAsItWas,
      asksAgain: () => asksAgain,
      [Symbol.asyncDispose]: () => supervisor.close(),
    };
  }

  it('a call that is refused waits, and runs once on the same client', async () => {
    await using mine = await own();
    await proxy.refuse();
    const calls = Array.from({ length: 10 }, (_, n) => mine.handle.callTool(append(`down-${n}`)));
    await until(() => mine.handle.status.suspectSince !== undefined);
    mine.staysAsItWas();
    const later = [mine.handle.callTool(append('later')), mine.handle.listTools()];
    await until(() => mine.handle.status.waiting === 12, { what: 'all wait' });
    await proxy.reopen();
    await Promise.all([...calls, ...later]);
    for (let n = 0; n < 10; n++) expect(server.ledger.runs(`down-${n}`)).toBe(1);
    expect(server.ledger.runs('later')).toBe(1);
    mine.staysAsItWas();
    expect(mine.handle.status.suspectSince).toBeUndefined();
  });

  it('a server that is killed and started again', async () => {
    await using mine = await own({ recovery: { recreate: 'eager' } });
    await server.kill();
    const call = mine.handle.callTool({ name: 'read', arguments: { key: 'killed' } });
    await until(() => mine.handle.status.suspectSince !== undefined);
    await server.start();
    await call;
    expect(server.ledger.runs('killed')).toBe(1);
    mine.staysAsItWas();
  });

  it('a call that comes in the outage is not sent before a server is there', async () => {
    await using mine = await own({ replay: { tools: { append: 'never' } } });
    await proxy.refuse();
    const noticed = rejection(mine.handle.callTool(append('noticed')));
    expect(await noticed).toMatchObject({ why: 'policy' });
    await until(() => mine.asksAgain(), { what: 'a probe that is refused' });
    const later = mine.handle.callTool(append('later'));
    await until(() => mine.handle.status.waiting === 1);
    await proxy.reopen();
    await later;
    expect([server.ledger.runs('noticed'), server.ledger.runs('later')]).toEqual([0, 1]);
  });

  it('a call that is cut: unknown; a safe one is sent once more', async () => {
    await using mine = await own();
    proxy.next('tools/call', { kind: 'cut', how: 'rst', forwarded: true });
    expect(await rejection(mine.handle.callTool(append('cut')))).toBeInstanceOf(OutcomeUnknownError);
    proxy.next('tools/call', { kind: 'cut', how: 'rst', forwarded: true });
    await mine.handle.callTool({ name: 'read', arguments: { key: 'safe' } });
    expect([server.ledger.runs('cut'), server.ledger.runs('safe')]).toEqual([1, 2]);
    mine.staysAsItWas();
  });

  it('a call that may not wait for longer is told so, and the connection stays', async () => {
    await using mine = await own();
    await proxy.refuse();
    const error = await rejection(mine.handle.callTool(append('short'), { timeout: 300 } as never));
    expect(error).toBeInstanceOf(ConnectionUnavailableError);
    expect(error).toMatchObject({ why: 'deadline', evidence: { execution: 'none', cause: 'unreachable' } });
    const waiting = await rejection(mine.handle.callTool(append('short'), { timeout: 50 } as never));
    expect((waiting as Error).message).toMatch(/no connection could be made/);
    mine.staysAsItWas();
    await proxy.reopen();
    await mine.handle.callTool(append('next'));
    expect(server.ledger.runs('short')).toBe(0);
  });

  it('with `waitForReady: false` each call is sent at once, and fails as the SDK has it fail', async () => {
    await using mine = await own({ recovery: { waitForReady: false } });
    await proxy.refuse();
    void mine.handle.callTool(append('a'), { timeout: 500 } as never).catch(() => {});
    await until(() => mine.handle.status.suspectSince !== undefined);
    await proxy.reopen();
    await mine.handle.callTool(append('b'));
    expect(server.ledger.runs('b')).toBe(1);
    mine.staysAsItWas();
  });

  it('after `windowMs` it is lost as ever, and recreated when it is wanted', async () => {
    await using mine = await own({ recovery: { windowMs: 300 } });
    await proxy.refuse();
    const call = rejection(mine.handle.callTool(append('window')));
    await until(() => mine.handle.state !== 'ready', { what: 'the loss' });
    await call;
    await proxy.reopen();
    await mine.handle.reconnect();
    await mine.handle.callTool(append('after'));
    expect(mine.handle.generation).toBe(2);
    expect([server.ledger.runs('window'), server.ledger.runs('after')]).toEqual([0, 1]);
  });

  it('a heartbeat that finds no server: the same', async () => {
    await using mine = await own({ liveness: { heartbeatMs: 50 } });
    await proxy.refuse();
    await until(() => mine.handle.status.suspectSince !== undefined);
    await proxy.reopen();
    await until(() => mine.handle.status.suspectSince === undefined);
    mine.staysAsItWas();
  });

  it('close() in an outage ends at once, and calls that wait are told', async () => {
    const mine = await own();
    await proxy.refuse();
    const call = rejection(mine.handle.callTool(append('close')));
    await until(() => mine.handle.status.waiting === 1 && mine.handle.status.suspectSince !== undefined);
    await mine.supervisor.close();
    expect(await call).toMatchObject({
      code: 'closed',
      message: expect.stringMatching(/was not (sent|run)/),
    });
  });

  it('a client that closes itself is lost', async () => {
    const clients: { close(): Promise<void> }[] = [];
    await using mine = await own({
      connect: async ({ fetch }: { fetch: typeof globalThis.fetch }) => {
        const client = await connect(proxy.url(), fetch);
        clients.push(client as { close(): Promise<void> });
        return client as never;
      },
    } as never);
    await clients[0]!.close();
    await mine.handle.callTool(append('anew'));
    expect(mine.handle.generation).toBe(2);
  });

  describe.each(['adopt', 'adoptSession'] as const)('%s', (how) => {
    it('an outage is a failure of its calls only; nothing else is sent', async () => {
      const client = (await connect(proxy.url())) as { close(): Promise<void> };
      const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1' } });
      const handle = supervisor[how]('mine', client as never);
      await handle.callTool(append('first'));
      await proxy.refuse();
      server.ledger.clear();
      const errors = await Promise.all([
        rejection(handle.callTool(append('down'))),
        rejection(handle.callTool(append('down'))),
        rejection(handle.listTools()),
      ]);
      for (const error of errors) expect(error).not.toMatchObject({ connection: 'mine' });
      proxy.next('tools/call', { kind: 'cut', how: 'rst', forwarded: true });
      await proxy.reopen();
      expect(await rejection(handle.callTool(append('cut')))).not.toMatchObject({ connection: 'mine' });
      await handle.callTool(append('back'));
      expect(handle).toMatchObject({ state: 'ready', generation: 1, status: { suspectSince: undefined } });
      expect([server.ledger.runs('down'), server.ledger.runs('cut'), server.ledger.runs('back')]).toEqual([
        0, 1, 1,
      ]);
      expect(server.ledger.requests('ping') + server.ledger.requests('server/discover')).toBe(0);
      await handle.replace(client as never);
      await handle.callTool(append('replaced'));
      await client.close();
      expect(await rejection(handle.callTool(append('closed')))).toMatchObject({ code: 'ownership' });
      await supervisor.close();
    });
  });
});
