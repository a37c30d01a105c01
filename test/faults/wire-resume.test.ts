// Owned, Streamable HTTP with event ids: an answer stream is followed through every resume, on a generation that
// lives, on one whose session is gone, and on one that drains.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { type Host, hostOf, ONE_HOST_OF_EACH } from '../support/hosts.ts';
import { type OddExchange, OddServer, rightAnswer, textResult } from '../support/odd-server.ts';
import { settled } from '../support/owned.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const MINUTE = { timeout: 60_000 };
const AT_ONCE_MS = 3_000;
const progress = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } };

type Cut = 'break' | 'end';
const end = ({ res }: OddExchange, how: Cut) => (how === 'end' ? res.end() : res.destroy());

let server: OddServer;
/** The streams of the one call, from its POST on. */
let streams: OddExchange[];
let retryMs: number;
beforeEach(async () => {
  streams = [];
  retryMs = 50;
  server = await new OddServer().start({
    answer: (exchange) => {
      streams.push(exchange);
      exchange.events();
      exchange.res.write(`retry: ${retryMs}\nid: e1\ndata: \n\n`);
    },
    resume: (exchange) => {
      exchange.events();
      streams.push(exchange);
    },
  });
});
afterEach(() => server[Symbol.asyncDispose]());

/** A call whose first event the client has read. */
async function begin({ handle }: Host) {
  let events = 0;
  const options = { ...MINUTE, onresumptiontoken: () => void events++ };
  const call = settled(handle.callTool({ name: 't' }, undefined, options));
  await until(() => events === 1);
  return { call, events: () => events };
}

/** Ends the newest stream of the call, and waits for the next. */
async function cutAndResume(how: Cut): Promise<void> {
  const before = streams.length;
  end(streams.at(-1)!, how);
  await until(() => streams.length === before + 1, { what: 'the next resume' });
}

function answer(eventId = 'last'): void {
  streams.at(-1)!.res.write(`id: ${eventId}\ndata: ${JSON.stringify(rightAnswer(streams[0]!))}\n\n`);
  streams.at(-1)!.res.end();
}

describe.each(ONE_HOST_OF_EACH)('%s', (kind) => {
  describe.each(['break', 'end'] as const)('each stream meets its %s', (how) => {
    it.each([1, 2, 3, 4])(
      '%i times without a new event: resumed from the last one, and answered',
      async (cuts) => {
        await using host = hostOf(kind, server.url);
        const { call } = await begin(host);
        for (let cut = 0; cut < cuts; cut++) await cutAndResume(how);
        answer();
        expect((await call).error).toBeUndefined();
        expect(server.count('GET after e1')).toBe(cuts);
        expect(server.count('tools/call')).toBe(1);
        expect(host.handle.generation).toBe(1);
      },
    );

    it('with events in between: resumed from the newest', async () => {
      await using host = hostOf(kind, server.url);
      const { call, events } = await begin(host);
      await cutAndResume(how);
      streams.at(-1)!.res.write(`id: e2\ndata: ${JSON.stringify(progress)}\n\n`);
      await until(() => events() === 2);
      await cutAndResume(how);
      await cutAndResume(how);
      answer();
      expect((await call).error).toBeUndefined();
      expect([server.count('GET after e1'), server.count('GET after e2')]).toEqual([1, 2]);
    });

    it('two calls at once, both twice: each gets its own answer', async () => {
      const posts: OddExchange[] = [];
      server.options.answer = (exchange) => {
        posts.push(exchange);
        exchange.events()(progress, `call-${exchange.id}`);
      };
      const resumes: { lastEventId: string; exchange: OddExchange }[] = [];
      server.options.resume = (exchange, lastEventId) => {
        exchange.events();
        resumes.push({ lastEventId, exchange });
      };
      await using host = hostOf(kind, server.url);
      let read = 0;
      const options = { ...MINUTE, onresumptiontoken: () => void read++ };
      const calls = [1, 2].map(() => settled(host.handle.callTool({ name: 't' }, undefined, options)));
      await until(() => read === 2);
      for (const each of posts) end(each, how);
      await until(() => resumes.length === 2);
      for (const { exchange } of resumes) end(exchange, how);
      await until(() => resumes.length === 4);
      for (const { lastEventId, exchange } of resumes.slice(2)) {
        exchange.res.write(
          `data: ${JSON.stringify(textResult(Number(lastEventId.slice(5)), lastEventId))}\n\n`,
        );
        exchange.res.end();
      }
      const texts = (await Promise.all(calls)).map(
        ({ result }) => (result as { content: [{ text: string }] }).content[0].text,
      );
      expect(new Set(texts)).toEqual(new Set(posts.map(({ id }) => `call-${id}`)));
    });
  });

  it('a stream that breaks before its first event is not resumed: settled at once', async () => {
    server.options.answer = (exchange) => {
      exchange.events();
      setTimeout(() => exchange.res.destroy(), 30);
    };
    await using host = hostOf(kind, server.url);
    const { ms, error } = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    expect(ms).toBeLessThan(AT_ONCE_MS);
    expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
  });

  it.each([
    [405, 1],
    [404, 2],
    [500, 2],
  ])('a resume that is refused with %i: settled with the last try', async (status, tries) => {
    server.options.resume = ({ res }) => void res.writeHead(status).end();
    await using host = hostOf(kind, server.url);
    const { call } = await begin(host);
    end(streams[0]!, 'break');
    expect((await call).error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
    expect(server.count('GET after e1')).toBe(tries);
  });

  it('one that is refused once is tried again, by the id, also where the SDK forgot it', async () => {
    await using host = hostOf(kind, server.url);
    const { call } = await begin(host);
    await cutAndResume('break');
    const { resume } = server.options;
    server.options.resume = ({ res }) => {
      server.options.resume = resume!;
      res.writeHead(500).end();
    };
    await cutAndResume('break');
    answer();
    expect((await call).error).toBeUndefined();
    expect(server.count('GET after e1')).toBe(3);
  });

  it('a result with another id makes the SDK give the stream up: settled at once', async () => {
    await using host = hostOf(kind, server.url);
    const { call, events } = await begin(host);
    streams[0]!.res.write(`id: e2\ndata: ${JSON.stringify(textResult(999))}\n\n`);
    await until(() => events() === 2);
    end(streams[0]!, 'break');
    const { ms, error } = await call;
    expect(ms).toBeLessThan(AT_ONCE_MS);
    expect(error).toMatchObject({ code: 'outcome-unknown' });
  });

  describe('its session is gone', () => {
    /** Another call finds that out, and the handle goes on with a new generation. */
    async function loseSession({ handle }: Host): Promise<void> {
      const { answer: hold } = server.options;
      server.options.answer = ({ res }) => void res.writeHead(404).end();
      handle.on('lost', () => {
        server.options.answer = (exchange) => exchange.json(rightAnswer(exchange));
      });
      await handle.callTool({ name: 't' }, undefined, MINUTE);
      expect(handle.generation).toBe(2);
      server.options.answer = hold!;
    }

    it.each(['break', 'end'] as const)('a later %s settles the call at once', async (how) => {
      retryMs = 20_000;
      await using host = hostOf(kind, server.url);
      const { call } = await begin(host);
      await loseSession(host);
      const cutAt = Date.now();
      end(streams[0]!, how);
      const { at, error } = await call;
      expect(at - cutAt).toBeLessThan(AT_ONCE_MS);
      expect(error).toMatchObject({ code: 'outcome-unknown', generation: 1 });
    });

    it('one that is stalled already is settled with the loss', async () => {
      retryMs = 20_000;
      await using host = hostOf(kind, server.url);
      const { call } = await begin(host);
      end(streams[0]!, 'end');
      await until(() => server.count('ping') > 0, { what: 'the probe for a stalled stream' });
      const lostAt = Date.now();
      await loseSession(host);
      const { at, error } = await call;
      expect(at - lostAt).toBeLessThan(AT_ONCE_MS);
      expect(error).toMatchObject({ code: 'outcome-unknown', generation: 1 });
    });

    it('one whose answer comes is left alone', async () => {
      await using host = hostOf(kind, server.url);
      const { call } = await begin(host);
      await loseSession(host);
      answer();
      expect((await call).error).toBeUndefined();
    });
  });

  describe('it drains', () => {
    it('a stream that breaks settles its call at once', async () => {
      retryMs = 20_000;
      await using host = hostOf(kind, server.url);
      const { call } = await begin(host);
      const reconnected = host.handle.reconnect();
      await until(() => host.handle.state !== 'ready' || host.handle.generation === 2);
      const cutAt = Date.now();
      end(streams[0]!, 'break');
      const { at, error } = await call;
      expect(at - cutAt).toBeLessThan(AT_ONCE_MS);
      expect(error).toMatchObject({ code: 'outcome-unknown', generation: 1 });
      await reconnected;
    });

    it('a stream that ends after an event is resumed, and answered', async () => {
      await using host = hostOf(kind, server.url);
      const { call } = await begin(host);
      const reconnected = host.handle.reconnect();
      await until(() => host.handle.state !== 'ready' || host.handle.generation === 2);
      await cutAndResume('end');
      answer();
      expect((await call).error).toBeUndefined();
      await reconnected;
    });
  });
});
