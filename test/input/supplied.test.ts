// What `adopt`, `adoptSession` and `replace` are given: a clear error at once, and nothing changed.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createSupervisor,
  InvalidOptionsError,
  NotConnectedError,
  type Supervisor,
} from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { connectV1, connectV2 } from '../support/raw-client.ts';

expectNoCrashes();

const info = { name: 'host', version: '1.0.0' };
let server: TestServer;
let supervisor: Supervisor;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  supervisor = createSupervisor({ clientInfo: info });
});
afterEach(() => supervisor.close());

/** Hosts without types may pass anything. */
const adopt = {
  client: (supplied: unknown) => supervisor.adopt('mine', supplied as never),
  session: (supplied: unknown) => supervisor.adoptSession('mine', supplied as never),
};

const NO_CLIENT: [what: string, supplied: unknown][] = [
  ['undefined', undefined],
  ['null', null],
  ['a number', 5],
  ['a string', 'client'],
  ['an empty object', {}],
  ['a promise of a client', Promise.resolve({ request() {} })],
];

describe('no client at all', () => {
  it.each(NO_CLIENT)('%s', (_what, supplied) => {
    for (const path of ['client', 'session'] as const) {
      const act = () => adopt[path](supplied);
      expect(act).toThrow(InvalidOptionsError);
      expect(act).toThrow(expect.objectContaining({ code: 'invalid-options', path }));
      expect(act).toThrow(/"mine".*(client|session): expected/);
    }
    expect(supervisor.connections.size).toBe(0);
  });

  it('a session is not a client: adopt() needs what a handle will call', () => {
    const session = { request: async () => ({}) };
    expect(() => adopt.client(session)).toThrow(
      expect.objectContaining({ code: 'invalid-options', path: 'client' }),
    );
    expect(supervisor.connections.size).toBe(0);
  });
});

describe('a client that is not connected', () => {
  const never = () => new Client(info);
  const closed = async () => {
    const { client } = await connectV1(server);
    await client.close();
    return client;
  };
  const closedV2 = async () => {
    const { client } = await connectV2(server);
    await client.close();
    return client;
  };

  it.each([
    ['never connected', never],
    ['closed, v1', closed],
    ['closed, v2', closedV2],
  ] as const)('%s', async (_what, make) => {
    const client = await make();
    const before = server.ledger.count('request');
    for (const what of ['client', 'session'] as const) {
      const act = () => adopt[what](client);
      expect(act).toThrow(NotConnectedError);
      expect(act).toThrow(expect.objectContaining({ code: 'not-connected', connection: 'mine' }));
      expect(act).toThrow(/not connected.*never connected here.*connect\(\)/);
    }
    expect(supervisor.connections.size).toBe(0);
    expect(client.transport).toBeUndefined();
    expect(server.ledger.count('request'), 'nothing was sent').toBe(before);
  });
});

describe('replace', () => {
  it('refuses what is no connected client, and keeps the one that it has', async () => {
    await using raw = await connectV1(server);
    const handle = supervisor.adopt('mine', raw.client);
    const transitions: string[] = [];
    handle.on('transition', ({ to }) => transitions.push(to));
    for (const [, supplied] of NO_CLIENT) {
      await expect(handle.replace(supplied as never)).rejects.toMatchObject({ code: 'invalid-options' });
    }
    await expect(handle.replace(new Client(info))).rejects.toMatchObject({ code: 'not-connected' });
    expect(handle.state).toBe('ready');
    expect(handle.generation).toBe(1);
    expect(transitions).toEqual([]);
    await handle.ping();
    await handle.close();
    expect(raw.client.transport, 'the caller’s client is still connected').toBeDefined();
  });
});
