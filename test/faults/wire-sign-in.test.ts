// Owned, Streamable HTTP with an auth provider: a message that is sent again after a sign-in stays the message of its
// call. SDK v1 sends it without its options, where it signs in by itself.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { refreshingProvider } from '../support/oauth.ts';
import { type OddExchange, OddServer, rightAnswer } from '../support/odd-server.ts';
import { type OwnedRecipe, own, settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const MINUTE = { timeout: 60_000 };
const AT_ONCE_MS = 3_000;

let server: OddServer;
let streams: OddExchange[];
/** The one token that the server takes. */
let token: string;
beforeEach(async () => {
  streams = [];
  token = 'token 1';
  server = await new OddServer().start({
    first: (req, res) => {
      if (req.headers.authorization === `Bearer ${token}`) return false;
      res.writeHead(401).end();
      return true;
    },
    answer: (exchange) => {
      streams.push(exchange);
      exchange.events();
      exchange.res.write('retry: 50\nid: e1\ndata: \n\n');
    },
    resume: (exchange) => {
      exchange.events();
      streams.push(exchange);
    },
  });
});
afterEach(() => server[Symbol.asyncDispose]());

/** By itself, or by a client of the host's, which has the provider and signs in inside its own transport. */
const WAYS = ['a transport description', 'a connect function'] as const;

function recipe(how: (typeof WAYS)[number], login: ReturnType<typeof refreshingProvider>): OwnedRecipe {
  const authProvider = login.provider;
  if (how === 'a transport description') {
    return { kind: 'http', url: server.url, authProvider, fetch: login.fetch };
  }
  return async ({ fetch: watched }) => {
    const isForServer = (url: unknown) => String(url) === server.url.href;
    const fetch: typeof watched = (url, init) =>
      isForServer(url) ? watched(url, init) : login.fetch(url, init);
    const client = new Client({ name: 'host', version: '1.0.0' });
    const transport = new StreamableHTTPClientTransport(server.url, { authProvider, fetch });
    await client.connect(transport as Transport);
    return client;
  };
}

function connect(how: (typeof WAYS)[number]) {
  const login = refreshingProvider(token, () => token);
  const owned = own(recipe(how, login));
  let events = 0;
  const call = () =>
    settled(
      owned.handle.callTool({ name: 't' }, undefined, { ...MINUTE, onresumptiontoken: () => void events++ }),
    );
  return {
    owned,
    login,
    call,
    events: () => events,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function answer(): void {
  streams.at(-1)!.res.write(`data: ${JSON.stringify(rightAnswer(streams[0]!))}\n\n`);
  streams.at(-1)!.res.end();
}

it.each(WAYS)(
  '%s: sent again after a refresh, its stream is resumed, and the host hears of its events',
  async (how) => {
    await using host = connect(how);
    await host.owned.handle.ping();
    token = 'token 2';
    const call = host.call();
    await until(() => host.events() === 1);
    streams[0]!.res.destroy();
    await until(() => streams.length === 2);
    answer();
    expect((await call).error).toBeUndefined();
    expect([host.login.refreshes(), server.count('tools/call')]).toEqual([1, 2]);
    expect(host.owned.handle.generation).toBe(1);
  },
);

it.each(WAYS)(
  '%s: sent again after a refresh, its answer can no longer come: settled at once',
  async (how) => {
    await using host = connect(how);
    await host.owned.handle.ping();
    token = 'token 2';
    server.options.answer = ({ json }) => json([]);
    const { ms, error } = await host.call();
    expect(ms).toBeLessThan(AT_ONCE_MS);
    expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
  },
);

it.each(WAYS)(
  '%s: a resume that needs a refresh asks for the rest from where it was, though the SDK forgets that',
  async (how) => {
    await using host = connect(how);
    await host.owned.handle.ping();
    const call = host.call();
    await until(() => host.events() === 1);
    const { first } = server.options;
    server.options.first = (req, res, body) => {
      if (req.headers['last-event-id'] === undefined) return first!(req, res, body);
      server.options.first = first!;
      res.writeHead(401).end();
      return true;
    };
    streams[0]!.res.destroy();
    await until(() => streams.length === 2);
    answer();
    expect((await call).error).toBeUndefined();
    expect(server.seen.filter((what) => what === 'GET after e1')).toHaveLength(2);
  },
);
