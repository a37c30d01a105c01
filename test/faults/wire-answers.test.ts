// Owned, Streamable HTTP: a response to a call in which its answer is not, of every status and content type. Without
// a stream of the server's own the call is settled at once; the time that it was allowed is a minute.
import { describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { hostOf, SEEN_HOSTS } from '../support/hosts.ts';
import { type OddExchange, OddServer, rightAnswer, textResult } from '../support/odd-server.ts';
import { settled } from '../support/owned.ts';

expectNoCrashes();

const MINUTE = { timeout: 60_000 };
/** Far from the minute, and from what is waited for a stream of the server's own. */
const AT_ONCE_MS = 3_000;

const notification = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'x' },
};

const asJson = (body: (id: unknown) => unknown, status?: number, type?: string) => (exchange: OddExchange) =>
  exchange.json(body(exchange.id), status, type);
const asEvents =
  (events: (id: unknown) => unknown[], status?: number, type?: string) => (exchange: OddExchange) => {
    const send = exchange.events(status, type);
    for (const event of events(exchange.id)) send(event);
    exchange.res.end();
  };
const withoutBody = (status: number, type?: string) => (exchange: OddExchange) =>
  void exchange.res.writeHead(status, type === undefined ? {} : { 'content-type': type }).end();

const NOT_THE_ANSWER: Record<string, (exchange: OddExchange) => void> = {
  'JSON, another id': asJson(() => textResult(999)),
  'JSON, a string that is another id': asJson(() => textResult('other')),
  'JSON, an error with another id': asJson(() => ({
    jsonrpc: '2.0',
    id: 999,
    error: { code: 1, message: 'x' },
  })),
  'JSON, []': asJson(() => []),
  'JSON, only a notification': asJson(() => notification),
  'JSON, a batch of others': asJson(() => [textResult(998), notification, textResult(999)]),
  'JSON with parameters in its type': asJson(() => [], 200, 'application/json; charset=utf-8'),
  '201, JSON': asJson(() => [], 201),
  '203, JSON': asJson(() => textResult(999), 203),
  '206, JSON': asJson(() => notification, 206),
  'events, none': asEvents(() => []),
  'events, another id': asEvents(() => [textResult(999)]),
  'events, an error without an id': asEvents(() => [
    { jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } },
  ]),
  'events, only a notification': asEvents(() => [notification]),
  'events, one that is no JSON': asEvents(() => ['{"jsonrpc":']),
  'events, a batch': asEvents((id) => [[textResult(id)]]),
  '201, events': asEvents(() => [], 201),
  '203, events': asEvents(() => [textResult(999)], 203),
  '206, events': asEvents(() => [notification], 206),
  'events with parameters in their type': asEvents(() => [], 200, 'text/event-stream; charset=utf-8'),
  '202': withoutBody(202),
  '202, events': withoutBody(202, 'text/event-stream'),
  '205, events': withoutBody(205, 'text/event-stream'),
};

const THE_ANSWER: Record<string, (exchange: OddExchange) => void> = {
  'JSON, the id as a string': (exchange) => exchange.json(textResult(`${exchange.id}`)),
  'JSON, in a batch': (exchange) => exchange.json([notification, rightAnswer(exchange), textResult(999)]),
  '201, JSON': (exchange) => exchange.json(rightAnswer(exchange), 201),
  '206, JSON': (exchange) => exchange.json(rightAnswer(exchange), 206),
  '203, events': (exchange) => {
    exchange.events(203)(rightAnswer(exchange));
    exchange.res.end();
  },
  'events, after others, the id as a string': (exchange) => {
    const send = exchange.events();
    send(notification);
    send(textResult(999));
    send(textResult(`${exchange.id}`));
    exchange.res.end();
  },
  'events, in the very last chunk': (exchange) => {
    exchange.events();
    exchange.res.end(`data: ${JSON.stringify(rightAnswer(exchange))}\n\n`);
  },
};

describe.each(SEEN_HOSTS)('%s', (kind) => {
  it.each(Object.entries(NOT_THE_ANSWER))('%s: the outcome is unknown, at once', async (_name, answer) => {
    await using server = await new OddServer().start({ answer });
    await using host = hostOf(kind, server.url);
    const end = await settled(host.handle.callTool({ name: 't' }, undefined, MINUTE));
    expect(end.ms).toBeLessThan(AT_ONCE_MS);
    expect(end.error).toMatchObject({ code: 'outcome-unknown', evidence: { cause: 'answer-lost' } });
    expect(server.count('tools/call')).toBe(1);
    expect(host.handle.generation).toBe(1);
  });

  it.each(Object.entries(THE_ANSWER))('%s: answered', async (_name, answer) => {
    await using server = await new OddServer().start({ answer });
    await using host = hostOf(kind, server.url);
    const calls = [1, 2, 3].map(() => host.handle.callTool({ name: 't' }, undefined, MINUTE));
    for (const result of await Promise.all(calls)) expect(result).toHaveProperty('content');
    expect(server.count('tools/call')).toBe(3);
  });

  it('a list is asked for again on the same session', async () => {
    let lists = 0;
    await using server = await new OddServer().start({
      answer: (exchange) => (++lists === 1 ? exchange.json([]) : exchange.json(rightAnswer(exchange))),
    });
    await using host = hostOf(kind, server.url);
    expect(await host.handle.listTools(undefined, MINUTE)).toEqual({ tools: [] });
    expect(lists).toBe(2);
    expect(server.count('initialize')).toBe(1);
  });

  it('others that are in flight are left alone', async () => {
    const held: OddExchange[] = [];
    await using server = await new OddServer().start({
      answer: (exchange) => {
        if (exchange.message.params?.arguments?.held) held.push(exchange);
        else NOT_THE_ANSWER['JSON, another id']!(exchange);
      },
    });
    await using host = hostOf(kind, server.url);
    const call = (heldBack: boolean) =>
      settled(host.handle.callTool({ name: 't', arguments: { held: heldBack } }, undefined, MINUTE));
    const first = call(true);
    expect((await call(false)).error).toMatchObject({ code: 'outcome-unknown' });
    const second = call(true);
    expect((await call(false)).error).toMatchObject({ code: 'outcome-unknown' });
    for (const exchange of held) exchange.json(rightAnswer(exchange));
    expect([(await first).error, (await second).error]).toEqual([undefined, undefined]);
    expect(host.handle.generation).toBe(1);
  });
});
