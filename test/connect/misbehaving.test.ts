// A `connect` function that misbehaves is an error of its connection, and nothing that it makes is left behind.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  type Connect,
  type ConnectContext,
  ConnectionClosedError,
  ConnectionUnavailableError,
  createSupervisor,
} from '../../src/index.ts';
import { rejection } from '../support/lent.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };
const SECRET = 'token-of-the-host';

let server: MemoryServer;
beforeAll(() => {
  server = new MemoryServer();
});
afterEach(() => {
  server.close();
  server.ledger.clear();
});
afterAll(() => server[Symbol.asyncDispose]());

const client = async (): Promise<Client> => {
  const made = new Client(clientInfo);
  await made.connect(await server.transport());
  return made;
};

type Make = (context: ConnectContext) => unknown;

function own(make: Make, options: { connectTimeoutMs?: number; lazy?: boolean; maxAttempts?: number } = {}) {
  const contexts: ConnectContext[] = [];
  const supervisor = createSupervisor({ clientInfo });
  const connect = (context: ConnectContext) => {
    contexts.push(context);
    return make(context);
  };
  const handle = supervisor.own('mine', {
    connect: connect as Connect,
    lazy: options.lazy ?? true,
    timeouts: { connectTimeoutMs: options.connectTimeoutMs ?? 5_000, closeTimeoutMs: 200 },
    recovery: { maxAttempts: options.maxAttempts ?? 3, initialBackoffMs: 1, coolDownMs: 60_000 },
  });
  return { supervisor, handle, contexts };
}

const NONSENSE: [string, Make][] = [
  ['rejects', () => Promise.reject(new Error(SECRET))],
  [
    'throws at once',
    () => {
      throw new Error(SECRET);
    },
  ],
  ['rejects with nothing', () => Promise.reject(undefined)],
  ['rejects with a text', () => Promise.reject(SECRET)],
  ['returns nothing', () => undefined],
  ['returns null', () => null],
  ['returns a text', () => SECRET],
  ['returns an empty object', () => ({})],
  ['returns a client that is not connected', () => new Client(clientInfo)],
  ['returns what has request() and no transport', () => ({ request: () => Promise.resolve({}) })],
  [
    'returns what has neither close() nor a transport that works',
    () => ({ request: () => Promise.resolve({}), transport: {} }),
  ],
];

it.each(NONSENSE)('%s', async (_name, make) => {
  const { supervisor, handle, contexts } = own(make);
  const errors = await Promise.all([rejection(handle.listTools()), rejection(handle.ping())]);
  for (const error of errors) {
    expect(error).toBeInstanceOf(ConnectionUnavailableError);
    expect(error).toMatchObject({ code: 'unavailable', connection: 'mine', generation: 0 });
    expect((error as Error).message).not.toContain(SECRET);
    expect((error as Error).message).toMatch(/was not sent/);
  }
  expect(handle).toMatchObject({ state: 'exhausted', generation: 0 });
  expect(contexts.map(({ generation }) => generation)).toEqual([1, 1, 1]);
  expect(contexts.every(({ signal }) => signal.aborted)).toBe(true);
  await supervisor.close();
  expect(contexts).toHaveLength(3);
});

it('fails once and then works: the calls that wait are answered, on generation 1', async () => {
  let calls = 0;
  const { supervisor, handle, contexts } = own(() =>
    calls++ === 0 ? Promise.reject(new Error('once')) : client(),
  );
  const answers = await Promise.all(Array.from({ length: 10 }, () => handle.listTools()));
  expect(answers).toHaveLength(10);
  expect(handle.generation).toBe(1);
  expect(contexts).toHaveLength(2);
  expect(server.ledger.initializes()).toBe(1);
  await supervisor.close();
});

it('is called once for all who come at the same time', async () => {
  const { supervisor, handle, contexts } = own(client);
  expect(contexts).toHaveLength(0);
  await Promise.all(Array.from({ length: 20 }, () => handle.listTools()));
  expect(contexts).toHaveLength(1);
  expect(contexts[0]).toMatchObject({ generation: 1, fetch: expect.any(Function) });
  expect(contexts[0]?.signal.aborted).toBe(false);
  expect(server.ledger.initializes()).toBe(1);
  await supervisor.close();
});

it('never resolves: it is given up in time, and told so', async () => {
  const { supervisor, handle, contexts } = own(() => new Promise(() => {}), {
    connectTimeoutMs: 50,
    maxAttempts: 2,
  });
  const error = await rejection(handle.listTools());
  expect(error).toBeInstanceOf(ConnectionUnavailableError);
  expect(error).toMatchObject({ cause: { name: 'TimeoutError' } });
  expect(contexts.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  await supervisor.close();
});

it('resolves too late: what it returns is closed, and is not used', async () => {
  const late: Client[] = [];
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let calls = 0;
  const { supervisor, handle } = own(
    async () => {
      if (calls++ > 0) return client();
      await gate;
      late.push(await client());
      return late[0];
    },
    { connectTimeoutMs: 50 },
  );
  await handle.listTools();
  expect(handle.generation).toBe(1);
  letGo();
  await until(() => late[0] !== undefined && late[0].transport === undefined, {
    what: 'the close of the late one',
  });
  expect(server.sessions).toBe(1);
  await handle.listTools();
  expect(handle).toMatchObject({ state: 'ready', generation: 1 });
  expect(server.ledger.requests('tools/list')).toBe(2);
  await supervisor.close();
  expect(server.sessions).toBe(0);
});

it('is under way when the handle is closed: it is told so, and what it returns is closed', async () => {
  const made: Client[] = [];
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { supervisor, handle, contexts } = own(async () => {
    await gate;
    made.push(await client());
    return made[0];
  });
  const waits = rejection(handle.listTools());
  await until(() => contexts.length === 1);
  const closed = supervisor.close();
  expect(await waits).toBeInstanceOf(ConnectionClosedError);
  expect(contexts[0]?.signal.aborted).toBe(true);
  letGo();
  await closed;
  await until(() => made[0] !== undefined && made[0].transport === undefined);
  expect(server.sessions).toBe(0);
  expect(server.ledger.requests('tools/list')).toBe(0);
  expect(handle).toMatchObject({ state: 'closed', generation: 0 });
});

it('a closed handle never connects again, whatever is called; another one is not affected', async () => {
  const { supervisor, handle, contexts } = own(client);
  const sibling = supervisor.own('sibling', { connect: client as unknown as Connect });
  await Promise.all([handle.listTools(), sibling.listTools()]);
  await handle.close();
  await handle.close();
  for (const call of [
    () => handle.listTools(),
    () => handle.callTool({ name: 'append', arguments: { key: 'stray' } }),
    () => handle.ping(),
    () => handle.reconnect(),
    () => handle.request({ method: 'ping' }, {} as never),
  ]) {
    const error = await rejection(call());
    expect(error).toBeInstanceOf(ConnectionClosedError);
    expect(error).toMatchObject({ code: 'closed', connection: 'mine' });
  }
  expect(contexts).toHaveLength(1);
  expect(handle).toMatchObject({ state: 'closed', generation: 1 });
  expect(await sibling.listTools()).toHaveProperty('tools');
  expect(server.ledger.initializes()).toBe(2);
  expect(server.ledger.runs('stray')).toBe(0);
  expect(server.sessions).toBe(1);
  expect([...supervisor.connections.keys()]).toEqual(['sibling']);
  await supervisor.close();
  expect(server.sessions).toBe(0);
});

it('returns the same dead client again: that is no new generation', async () => {
  let kept: Client | undefined;
  const { supervisor, handle, contexts } = own(async () => {
    kept ??= await client();
    return kept;
  });
  await handle.listTools();
  server.close();
  const error = await rejection(handle.listTools());
  expect(error).toBeInstanceOf(ConnectionUnavailableError);
  expect(handle).toMatchObject({ state: 'exhausted', generation: 1 });
  expect(contexts.length).toBeLessThanOrEqual(4);
  expect(server.ledger.initializes()).toBe(1);
  await supervisor.close();
});

it('its own hooks on the client still run, and may throw', async () => {
  let closes = 0;
  const { supervisor, handle } = own(async () => {
    const made = await client();
    made.onclose = () => {
      closes++;
      throw new Error('of the host');
    };
    return made;
  });
  await handle.listTools();
  server.close();
  await until(() => closes > 0);
  await handle.listTools();
  expect(handle.generation).toBe(2);
  await supervisor.close();
});
