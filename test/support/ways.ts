/** Each way in which an owned connection reaches a server: transport, shape of the answers, version of the SDK. */
import type { Connect, ConnectContext, OwnedTransport } from '../../src/index.ts';
import { sdk2 } from '../../src/sdk-2.ts';
import type { Fault } from './faults.ts';
import { type ServerOptions, startServer } from './http-server.ts';
import type { Ledger } from './ledger.ts';
import { http, type OwnedRecipe, sse, stdio } from './owned.ts';
import { connectV2, type Target } from './raw-client.ts';
import { stdioServer } from './stdio-server.ts';

export interface Reached extends AsyncDisposable {
  readonly recipe: OwnedRecipe;
  readonly ledger: Ledger;
  /** Of the server's process: the latest. */
  pid(): number;
}

export interface WayOptions {
  readonly faults?: Fault[];
}

type Way = (options?: WayOptions) => Promise<Reached>;

const v2 =
  (target: Target): Connect =>
  async ({ fetch }: ConnectContext) =>
    (await connectV2(target, 'legacy', { fetch: fetch as never })).client as never;

/** The same transport of ours, made by SDK v2. */
const by2 =
  <Server>(describe: (server: Server) => OwnedTransport) =>
  (server: Server): OwnedTransport =>
    ({ ...describe(server), sdk: sdk2 }) as OwnedTransport;

async function overStdio(
  recipe: (server: ReturnType<typeof stdioServer>) => OwnedRecipe,
  options: WayOptions,
) {
  const server = stdioServer(options);
  return {
    recipe: recipe(server),
    ledger: server.ledger,
    pid: () => server.server(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function overHttp(recipe: (url: URL) => OwnedRecipe, options: ServerOptions & WayOptions) {
  const server = await startServer(options);
  return {
    recipe: recipe(server.url),
    ledger: server.ledger,
    pid: () => server.pid,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export const OVER_HTTP: Readonly<Record<string, Way>> = {
  'HTTP, SSE answers': (options) => overHttp(http, { ...options }),
  'HTTP, JSON answers': (options) => overHttp(http, { ...options, answers: 'json' }),
  'HTTP, SDK v2': (options) => overHttp(v2, { ...options }),
  'legacy SSE': (options) => overHttp(sse, { ...options, transport: 'sse' }),
  'legacy SSE, SDK v2': (options) => overHttp(v2, { ...options, transport: 'sse' }),
};

export const OVER_STDIO: Readonly<Record<string, Way>> = {
  stdio: (options) => overStdio(stdio, { ...options }),
  'stdio, SDK v2': (options) => overStdio(v2, { ...options }),
};

export const WAYS: readonly (readonly [string, Way])[] = Object.entries({ ...OVER_STDIO, ...OVER_HTTP });

/** Transports of ours, made by SDK v2: what they have of their own is the handshake and the SDK's requests. */
export const BY_VERSION_2: readonly (readonly [string, Way])[] = [
  ['stdio, our transport, SDK v2', (options) => overStdio(by2(stdio), { ...options })],
  ['HTTP, our transport, SDK v2', (options) => overHttp(by2(http), { ...options })],
];
