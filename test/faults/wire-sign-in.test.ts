// Owned, Streamable HTTP with an auth provider: SDK v1 sends a message again without its options after it has signed
// in. It stays the message of its call.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { refreshingProvider } from '../support/oauth.ts';
import { type OddExchange, OddServer, rightAnswer } from '../support/odd-server.ts';
import { own, settled } from '../support/owned.ts';
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

function connect() {
  const login = refreshingProvider(token, () => token);
  const owned = own({ kind: 'http', url: server.url, authProvider: login.provider, fetch: login.fetch });
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

it('sent again after a refresh, its stream is resumed, and the host hears of its events', async () => {
  await using host = connect();
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
});

it('sent again after a refresh, its answer can no longer come: settled at once', async () => {
  await using host = connect();
  await host.owned.handle.ping();
  token = 'token 2';
  server.options.answer = ({ json }) => json([]);
  const { ms, error } = await host.call();
  expect(ms).toBeLessThan(AT_ONCE_MS);
  expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
});

it('a resume that needs a refresh asks for the rest from where it was, though the SDK forgets that', async () => {
  await using host = connect();
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
});
