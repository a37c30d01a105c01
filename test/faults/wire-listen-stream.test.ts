// Owned, Streamable HTTP: a server that accepts a call with 202, or ends its stream, and answers on the GET stream. A
// raw client gets that answer.
import { describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { deferred } from '../support/deferred.ts';
import { type Host, hostOf, SEEN_HOSTS } from '../support/hosts.ts';
import { type OddExchange, type OddOptions, OddServer, rightAnswer } from '../support/odd-server.ts';
import { settled } from '../support/owned.ts';
import { connectV1, connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const MINUTE = { timeout: 60_000 };
const AT_ONCE_MS = 3_000;
/** What is waited for, for a server that was never seen to answer there. */
const UNSEEN_MS = 5_000;
const LATER_MS = 100;

const WAYS: Record<string, (exchange: OddExchange) => void> = {
  '202': ({ res }) => void res.writeHead(202).end(),
  'an empty stream': (exchange) => {
    exchange.events();
    exchange.res.end();
  },
  'another answer as JSON': (exchange) => exchange.json([]),
};

/** `held`: the calls that the POST did not answer; `listen`: sends on the GET stream. */
async function start(way: string, more: OddOptions = {}) {
  const held: OddExchange[] = [];
  const open: OddExchange[] = [];
  const server = await new OddServer().start({
    answer: (exchange) => {
      held.push(exchange);
      WAYS[way]!(exchange);
    },
    listen: (exchange) => {
      exchange.events();
      open.push(exchange);
    },
    ...more,
  });
  const say = (message: unknown) => open.at(-1)?.res.write(`data: ${JSON.stringify(message)}\n\n`);
  return { server, held, open, say };
}

async function ready({ handle }: Host, open: readonly unknown[]): Promise<void> {
  await handle.ping();
  await until(() => open.length > 0, { what: 'the GET stream' });
}

describe.each(Object.keys(WAYS))('%s', (way) => {
  it.each([
    ['v1', connectV1],
    ['v2', (url: URL) => connectV2(url)],
  ] as const)('the raw client, %s: answered', async (_version, connect) => {
    const { server, held, open, say } = await start(way);
    await using raw = await connect(server.url);
    await until(() => open.length > 0);
    const call = raw.client.callTool({ name: 't' });
    await until(() => held.length === 1);
    setTimeout(() => say(rightAnswer(held[0]!)), LATER_MS);
    expect(await call).toHaveProperty('content');
    await server[Symbol.asyncDispose]();
  });

  describe.each(SEEN_HOSTS)('%s', (kind) => {
    it('calls and lists are answered, each sent once', async () => {
      const { server, held, open, say } = await start(way);
      await using host = hostOf(kind, server.url);
      await ready(host, open);
      const calls = [
        host.handle.callTool({ name: 't' }, undefined, MINUTE),
        host.handle.listTools(undefined, MINUTE),
        host.handle.callTool({ name: 't' }, undefined, MINUTE),
      ];
      await until(() => held.length === 3);
      setTimeout(() => held.toReversed().forEach((each) => void say(rightAnswer(each))), LATER_MS);
      await Promise.all(calls);
      expect([server.count('tools/call'), server.count('tools/list')]).toEqual([2, 1]);
      expect(host.handle.generation).toBe(1);
      await server[Symbol.asyncDispose]();
    });

    it('the GET stream ends: the outcome is unknown, at once', async () => {
      const { server, held, open } = await start(way);
      await using host = hostOf(kind, server.url);
      await ready(host, open);
      const call = settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      await until(() => held.length === 1);
      open[0]!.res.end();
      const end = await call;
      expect(end.ms).toBeLessThan(AT_ONCE_MS);
      expect(end.error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
      expect(server.count('tools/call')).toBe(1);
      await server[Symbol.asyncDispose]();
    });
  });
});

describe.each(SEEN_HOSTS)('%s', (kind) => {
  it('a server that never answered there is waited for five seconds', async () => {
    const { server, held, open } = await start('202');
    await using host = hostOf(kind, server.url);
    await ready(host, open);
    const end = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    expect(end.ms).toBeGreaterThan(UNSEEN_MS - 100);
    expect(end.ms).toBeLessThan(UNSEEN_MS + AT_ONCE_MS);
    expect(end.error).toMatchObject({ code: 'outcome-unknown' });
    expect(held).toHaveLength(1);
    await server[Symbol.asyncDispose]();
  });

  it('one that did is waited for as long as the call may take, on later generations too', async () => {
    const { server, held, open, say } = await start('202');
    await using host = hostOf(kind, server.url);
    await ready(host, open);
    const first = host.handle.callTool({ name: 't' }, undefined, MINUTE);
    await until(() => held.length === 1);
    setTimeout(() => say(rightAnswer(held[0]!)), LATER_MS);
    await first;
    await host.handle.reconnect();
    await until(() => open.length === 2);
    const slow = settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    await until(() => held.length === 2);
    setTimeout(() => say(rightAnswer(held[1]!)), UNSEEN_MS + 500);
    expect((await slow).error).toBeUndefined();
    expect([server.count('tools/call'), host.handle.generation]).toEqual([2, 2]);
    await server[Symbol.asyncDispose]();
  });

  it.each([405, 404, 500])(
    'a GET that is refused with %i brings no answer: settled at once',
    async (status) => {
      const refusal = deferred();
      const { server, held } = await start('202', {
        listen: ({ res }) => void refusal.promise.then(() => res.writeHead(status).end()),
      });
      await using host = hostOf(kind, server.url);
      await host.handle.ping();
      const call = settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
      await until(() => held.length === 1 && server.count('GET') === 1);
      refusal.resolve();
      const end = await call;
      expect(end.ms).toBeLessThan(AT_ONCE_MS);
      expect(end.error).toMatchObject({ code: 'outcome-unknown' });
      await server[Symbol.asyncDispose]();
    },
  );

  it('a stream that is still being opened may bring it', async () => {
    const opened = deferred();
    const { server, held, say, open } = await start('202', {
      listen: (exchange) =>
        void opened.promise.then(() => {
          exchange.events();
          open.push(exchange);
        }),
    });
    await using host = hostOf(kind, server.url);
    await host.handle.ping();
    const call = settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    await until(() => held.length === 1 && server.count('GET') === 1);
    opened.resolve();
    await until(() => open.length === 1);
    setTimeout(() => say(rightAnswer(held[0]!)), LATER_MS);
    expect((await call).error).toBeUndefined();
    await server[Symbol.asyncDispose]();
  });

  it('a stream that broke is not waited for', async () => {
    const { server, open } = await start('202', {
      answer: (exchange) => {
        exchange.events();
        setTimeout(() => exchange.res.destroy(), 30);
      },
    });
    await using host = hostOf(kind, server.url);
    await ready(host, open);
    const end = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    expect(end.ms).toBeLessThan(AT_ONCE_MS);
    expect(end.error).toMatchObject({ code: 'outcome-unknown' });
    expect(server.count('tools/call')).toBe(1);
    await server[Symbol.asyncDispose]();
  });
});
