// Owned, by `connect`: the client of the generation before has been closed before `connect` is called again.

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterEach, describe, expect, it } from 'vitest';
import { type Connect, type ConnectContext, createSupervisor, type OwnOptions } from '../../src/index.ts';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { settled } from '../support/owned.ts';
import { connectV1, connectV2 } from '../support/raw-client.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

type Close = (really: () => Promise<void>) => Promise<void>;
type AnyClient = Pick<Client, 'close' | 'callTool'>;

let dispose: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of dispose.reverse()) await end();
  dispose = [];
});

function kept<T extends AsyncDisposable>(resource: T): T {
  dispose.push(async () => resource[Symbol.asyncDispose]());
  return resource;
}

/** An owned connection, and in `log` the order of what it does: `connect 1`, `close 1`, `closed 1`, … */
function own(
  make: (context: ConnectContext) => Promise<unknown>,
  close: Close = (really) => really(),
  options: Pick<OwnOptions, 'timeouts' | 'recovery' | 'liveness'> = {},
) {
  const log: string[] = [];
  const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  dispose.push(() => supervisor.close());
  let made = 0;
  const connect = async (context: ConnectContext) => {
    const number = ++made;
    log.push(`connect ${number}`);
    const client = (await make(context)) as AnyClient;
    const really = client.close.bind(client);
    client.close = async () => {
      log.push(`close ${number}`);
      await close(really);
      log.push(`closed ${number}`);
    };
    return client;
  };
  const { timeouts, recovery, ...rest } = options;
  const handle = supervisor.own('files', {
    connect: connect as unknown as Connect,
    timeouts: { closeTimeoutMs: 2_000, drainTimeoutMs: 5_000, ...timeouts },
    recovery: { initialBackoffMs: 10, maxBackoffMs: 50, ...recovery },
    ...rest,
  });
  const call = (key: string, args: object = {}, tool = 'append') =>
    handle.callTool({ name: tool, arguments: { key, ...args } });
  return { handle, log, call };
}

const slowly: Close = async (really) => {
  await new Promise((resolve) => setTimeout(resolve, 300));
  await really();
};

const IN_ORDER = ['connect 1', 'close 1', 'closed 1', 'connect 2'];

interface Venue {
  make(context: ConnectContext): Promise<unknown>;
  /** Ends what is connected now, for good. */
  lose(): unknown;
}

const VENUES: [string, () => Promise<Venue>][] = [];
for (const [sdk, connect] of [
  ['v1', connectV1],
  ['v2', (target: Parameters<typeof connectV2>[0], o?: object) => connectV2(target, 'legacy', o)],
] as const) {
  VENUES.push([
    `${sdk}, HTTP`,
    async () => {
      const server = kept(await startServer());
      return {
        make: async ({ fetch }) => (await connect(server, { fetch: fetch as never })).client,
        lose: () => server.evict(),
      };
    },
  ]);
  VENUES.push([
    `${sdk}, stdio of the SDK`,
    async () => {
      const server = kept(stdioServer({ exclusive: 'lock' }));
      dispose.push(async () => expect(server.ledger.count('clash')).toBe(0));
      return {
        make: async () => (await connect(server)).client,
        lose: () => process.kill(server.server(), 'SIGKILL'),
      };
    },
  ]);
}
VENUES.push([
  'v1, in memory',
  async () => {
    const server = kept(new MemoryServer());
    const make = async () => {
      const { Client: V1 } = await import('@modelcontextprotocol/sdk/client/index.js');
      const client = new V1({ name: 'memory', version: '1.0.0' });
      await client.connect(await server.transport());
      return client;
    };
    return { make, lose: () => server.close() };
  },
]);

describe.each(VENUES)('%s', (_name, venue) => {
  it('reconnect()', async () => {
    const { make } = await venue();
    const { handle, log, call } = own(make, slowly);
    await handle.ready();
    await handle.reconnect();
    await call('next');
    expect(log).toEqual(IN_ORDER);
  });

  it('a loss', async () => {
    const { make, lose } = await venue();
    const { handle, log } = own(make, slowly);
    await handle.ready();
    await lose();
    await handle.listTools();
    expect(log).toEqual(IN_ORDER);
    expect(handle.generation).toBe(2);
  });

  it('a loss with a call in flight', async () => {
    const { make, lose } = await venue();
    const { handle, log, call } = own(make, slowly);
    await handle.ready();
    const inFlight = settled(call('in flight', {}, 'hang'));
    await until(() => handle.status.inFlight === 1);
    // So that it has been written.
    await handle.listTools();
    await lose();
    const { error } = await inFlight;
    expect(error).toMatchObject({ code: 'outcome-unknown' });
    await handle.listTools();
    expect(log).toEqual(IN_ORDER);
  });

  it('a close() that never ends holds the next one up for closeTimeoutMs, and no longer', async () => {
    const { make } = await venue();
    const ends: (() => Promise<void>)[] = [];
    const never: Close = (really) => {
      ends.push(really);
      return new Promise(() => {});
    };
    const { handle, log, call } = own(make, never, { timeouts: { closeTimeoutMs: 300 } });
    await handle.ready();
    const begun = performance.now();
    const reconnected = handle.reconnect();
    if (_name.includes('stdio')) {
      // The lock is the host's business then.
      await until(() => ends.length > 0);
      await ends[0]?.();
    }
    await reconnected;
    expect(performance.now() - begun).toBeGreaterThanOrEqual(290);
    await call('next');
    expect(log).toEqual(['connect 1', 'close 1', 'connect 2']);
    dispose.push(async () => {
      await Promise.all(ends.map((end) => end()));
    });
  });

  it('a close() that rejects', async () => {
    const { make } = await venue();
    const { handle, log, call } = own(make, async (really) => {
      await really();
      throw new Error('of the host');
    });
    await handle.ready();
    await handle.reconnect();
    await call('next');
    expect(log).toEqual(['connect 1', 'close 1', 'connect 2']);
  });
});

it('a handshake that was given up: `connect` has settled before it is called again', async () => {
  const server = kept(new MemoryServer());
  const log: string[] = [];
  let calls = 0;
  const { handle } = own(
    async ({ signal }) => {
      const number = ++calls;
      log.push(`connect ${number}`);
      if (number === 1) {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await new Promise((resolve) => setTimeout(resolve, 300));
        log.push('settled 1');
        throw new Error('given up');
      }
      const { Client: V1 } = await import('@modelcontextprotocol/sdk/client/index.js');
      const client = new V1({ name: 'memory', version: '1.0.0' });
      await client.connect(await server.transport());
      return client;
    },
    undefined,
    { timeouts: { connectTimeoutMs: 200 } },
  );
  await handle.ready();
  expect(log).toEqual(['connect 1', 'settled 1', 'connect 2']);
});

describe.each([
  ['v1', connectV1],
  ['v2', (target: Parameters<typeof connectV2>[0], o?: object) => connectV2(target, 'legacy', o)],
] as const)('%s, HTTP', (_sdk, connect) => {
  it('ten calls on a session that was evicted: all answered, each ran once, on one new session', async () => {
    const server = kept(await startServer());
    const { handle, log, call } = own(
      async ({ fetch }) => (await connect(server, { fetch: fetch as never })).client,
    );
    await handle.ready();
    await server.evict();
    const keys = Array.from({ length: 10 }, (_, n) => `key${n}`);
    await Promise.all(keys.map((key) => call(key)));
    expect(keys.map((key) => server.ledger.runs(key))).toEqual(keys.map(() => 1));
    expect(server.ledger.initializes()).toBe(2);
    expect(log).toEqual(IN_ORDER);
  });

  it('a sibling with an open exchange is not cut', async () => {
    const server = kept(await startServer());
    const { handle, log, call } = own(
      async ({ fetch }) => (await connect(server, { fetch: fetch as never })).client,
    );
    await handle.ready();
    const sibling = settled(call('sibling', { holdMs: 1_500 }));
    await until(() => server.ledger.runs('sibling') === 1);
    await server.evict(undefined, { silent: true });
    await call('next');
    expect(log, 'the sibling is still being answered').toEqual(['connect 1', 'connect 2']);
    expect((await sibling).error).toBeUndefined();
    await until(() => log.includes('closed 1'));
    expect([server.ledger.runs('sibling'), server.ledger.runs('next')]).toEqual([1, 1]);
  });

  it.each([400, 409, 503])(
    'a server of one session that refuses with %i: reconnect(), and resets',
    async (oneSession) => {
      const server = kept(await startServer({ oneSession }));
      const proxy = kept(await startProxy(server.port));
      const target = { url: proxy.url() };
      const { handle, log, call } = own(
        async ({ fetch }) => (await connect(target, { fetch: fetch as never })).client,
      );
      await handle.ready();
      await handle.reconnect();
      proxy
        .next('tools/list', { kind: 'cut', how: 'rst', forwarded: false })
        .next('ping', { kind: 'cut', how: 'rst', forwarded: false }, 2);
      await handle.listTools();
      await call('next');
      expect(handle.generation).toBe(3);
      expect(log).toEqual([...IN_ORDER, 'close 2', 'closed 2', 'connect 3']);
      expect(await server.sessions()).toBe(1);
      expect(server.ledger.deletes()).toBe(2);
      expect(server.ledger.count('refused')).toBe(0);
    },
  );
});
