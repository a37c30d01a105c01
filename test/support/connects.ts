import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Connect, ConnectContext } from '../../src/index.ts';
import { startServer } from './http-server.ts';
import type { Ledger } from './ledger.ts';
import { MemoryServer } from './memory-server.ts';
import { connectV1, connectV2 } from './raw-client.ts';
import { stdioServer } from './stdio-server.ts';

const INFO = { name: 'connect', version: '1.0.0' };

/** A server, a `connect` function that makes clients for it, and the way in which they lose it. */
export interface Venue extends AsyncDisposable {
  readonly ledger: Ledger;
  readonly connect: Connect;
  /** What `connect` was given, call by call. */
  readonly contexts: ConnectContext[];
  /** What it returned. */
  readonly clients: (Client | ClientV2)[];
  /** Ends what is connected now, for good; the next connect finds a server. */
  lose(): unknown;
  /** How many clients the server still has. */
  open(): number | Promise<number>;
  /** For the next test: nothing has been counted. */
  clear(): void;
}

type Make = (context: ConnectContext) => Promise<Client | ClientV2>;

function venue(
  server: AsyncDisposable & { readonly ledger: Ledger },
  make: Make,
  rest: Pick<Venue, 'lose' | 'open'>,
): Venue {
  const contexts: ConnectContext[] = [];
  const clients: (Client | ClientV2)[] = [];
  const connect = async (context: ConnectContext) => {
    contexts.push(context);
    const client = await make(context);
    clients.push(client);
    return client;
  };
  return {
    ledger: server.ledger,
    contexts,
    clients,
    connect: connect as unknown as Connect,
    ...rest,
    clear() {
      server.ledger.clear();
      contexts.length = 0;
      clients.length = 0;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function memory(sdk: 'v1' | 'v2'): Promise<Venue> {
  const server = new MemoryServer();
  const make = async () => {
    const client = sdk === 'v1' ? new Client(INFO) : new ClientV2(INFO);
    const transport = sdk === 'v1' ? await server.transport() : await server.transport('v2');
    await client.connect(transport as never);
    return client;
  };
  return venue(server, make, { lose: () => server.close(), open: () => server.sessions });
}

async function webSocket(): Promise<Venue> {
  const server = await startServer({ transport: 'ws' });
  const make = async () => (await connectV1(server)).client;
  return venue(server, make, { lose: () => server.evict(), open: () => server.sessions() });
}

async function stdio(): Promise<Venue> {
  const server = stdioServer();
  const make = async () => (await connectV2(server)).client;
  return venue(server, make, {
    lose: () => process.kill(server.server(), 'SIGKILL'),
    open: () => server.alive().length,
  });
}

async function http(sdk: 'v1' | 'v2', watched: boolean, transport: 'http' | 'sse' = 'http'): Promise<Venue> {
  const server = await startServer({ transport });
  const make = async ({ fetch }: ConnectContext) => {
    const options = watched ? { fetch: fetch as never } : {};
    const raw = sdk === 'v1' ? await connectV1(server, options) : await connectV2(server, 'legacy', options);
    return raw.client;
  };
  return venue(server, make, { lose: () => server.evict(), open: () => server.sessions() });
}

/** Everything that a host can bring along through `connect`. `fetch`: it uses the one that it is given. */
export const VENUES: Readonly<Record<string, () => Promise<Venue>>> = {
  'v1, in memory': () => memory('v1'),
  'v2, in memory': () => memory('v2'),
  'v1, WebSocket': webSocket,
  'v2, stdio': stdio,
  'v1, HTTP, fetch': () => http('v1', true),
  'v2, HTTP, fetch': () => http('v2', true),
  'v2, HTTP': () => http('v2', false),
  'v1, legacy SSE, fetch': () => http('v1', true, 'sse'),
  'v2, legacy SSE': () => http('v2', false, 'sse'),
};
