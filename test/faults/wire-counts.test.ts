// What the wire monitor counts, beside real clients of the SDK on a socket and on an in-memory transport.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TransportShape } from '../../src/transports/client-shape.ts';
import { WireMonitor } from '../../src/transports/wire-monitor.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { type Message, type OddExchange, OddServer, rightAnswer, textResult } from '../support/odd-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const INFO = { name: 'host', version: '1.0.0' };
const NOTIFICATION = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'x' },
};

const RECOVERY = { initialBackoffMs: 200, maxBackoffMs: 3_000, windowMs: 120_000 };

let server: OddServer;
/** Calls that the server holds. */
let held: OddExchange[];
let client: Client;
let transport: StreamableHTTPClientTransport;
let monitor: WireMonitor;
let heard: number;
beforeEach(async () => {
  held = [];
  heard = 0;
  server = await new OddServer().start({ answer: (exchange) => void held.push(exchange) });
  await connect();
});
afterEach(async () => {
  await client.close();
  await server[Symbol.asyncDispose]();
});

async function connect(): Promise<void> {
  monitor = new WireMonitor(
    {
      suspected() {},
      streamEnded() {},
      heard: () => void heard++,
      legFailed: (_, error) => Promise.reject(error),
      listenStreamLost() {},
    },
    { answersOnListenStream: false, offersListenStream: false },
    RECOVERY,
  );
  transport = new StreamableHTTPClientTransport(server.url, {
    fetch: monitor.watchFetch(fetch, 'http') as never,
  });
  monitor.watch(transport as TransportShape, { overHttp: true, tellsStreamEnd: false });
  client = new Client(INFO);
  await client.connect(transport as never);
}

/** Resolves with how it ended; as the generation does, it tells whether the host gave it up. */
async function call(
  options: { timeout?: number; signal?: AbortSignal } = {},
): Promise<'answered' | 'failed'> {
  const exchange = monitor.begin();
  try {
    await client.callTool({ name: 't' }, undefined, { ...options, onresumptiontoken: exchange.token });
    monitor.end(exchange, false);
    return 'answered';
  } catch (error) {
    monitor.end(exchange, (error as { code: unknown }).code === -32001);
    return 'failed';
  }
}

async function giveUp(how: 'timeout' | 'abort' = 'timeout'): Promise<OddExchange> {
  const controller = new AbortController();
  const before = held.length;
  const given = call(how === 'timeout' ? { timeout: 30 } : { signal: controller.signal });
  await until(() => held.length === before + 1);
  controller.abort();
  expect(await given).toBe('failed');
  return held.at(-1)!;
}

describe('outstanding', () => {
  it.each(['timeout', 'abort'] as const)(
    'a call that the host gave up by %s, until its late answer',
    async (how) => {
      const exchange = await giveUp(how);
      expect([monitor.outstanding, monitor.inFlight]).toEqual([1, 0]);
      exchange.events()(rightAnswer(exchange));
      await until(() => monitor.outstanding === 0);
    },
  );

  const stream = ({ events, res }: OddExchange, how: 'end' | 'destroy') => {
    events();
    setTimeout(() => res[how](), 30);
  };
  it.each([
    ['its stream ends', (exchange: OddExchange) => stream(exchange, 'end')],
    ['its stream breaks', (exchange: OddExchange) => stream(exchange, 'destroy')],
    ['its JSON is no answer', ({ json }: OddExchange) => json([])],
    [
      'its JSON is cut',
      ({ res }: OddExchange) => res.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    ],
    ['it is refused', ({ res }: OddExchange) => res.writeHead(500).end()],
    ['it is accepted, and there is no other stream', ({ res }: OddExchange) => res.writeHead(202).end()],
    ['its connection breaks', ({ res }: OddExchange) => res.destroy()],
  ])('until %s', async (_how, end) => {
    const exchange = await giveUp();
    expect(monitor.outstanding).toBe(1);
    end(exchange);
    await until(() => monitor.outstanding === 0);
  });

  it('until a request that was sent later is answered, be it a ping', async () => {
    await giveUp();
    await giveUp();
    expect(monitor.outstanding).toBe(2);
    await client.ping();
    expect(monitor.outstanding).toBe(0);
  });

  it('not until an earlier one is answered, nor until a later one fails', async () => {
    const earlier = call();
    await until(() => held.length === 1);
    await giveUp();
    held[0]!.json(rightAnswer(held[0]!));
    expect(await earlier).toBe('answered');
    server.options.answer = ({ res }) => void res.writeHead(500).end();
    expect(await call()).toBe('failed');
    expect(monitor.outstanding).toBe(1);
  });

  it('not what was never sent, and not what was answered with the code of a time-out', async () => {
    expect(await call({ signal: AbortSignal.abort() })).toBe('failed');
    server.options.answer = ({ id, json }) =>
      json({ jsonrpc: '2.0', id, error: { code: -32001, message: 'x' } });
    expect(await call()).toBe('failed');
    expect(monitor.outstanding).toBe(0);
  });

  it('what was accepted while the stream of the server is open, until that brings the answer or ends', async () => {
    const open: OddExchange[] = [];
    await until(() => server.count('GET') === 1, { what: 'the GET that is refused' });
    server.options.listen = (exchange) => {
      exchange.events();
      open.push(exchange);
    };
    await client.close();
    await connect();
    await until(() => open.length === 1);
    server.options.answer = (exchange) => {
      held.push(exchange);
      exchange.res.writeHead(202).end();
    };
    const first = await giveUp();
    open[0]!.res.write(`data: ${JSON.stringify(rightAnswer(first))}\n\n`);
    await until(() => monitor.outstanding === 0);
    await giveUp();
    expect(monitor.outstanding).toBe(1);
    open[0]!.res.end();
    await until(() => monitor.outstanding === 0);
  });

  it('on a transport that is no HTTP too', async () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const sent: Message[] = [];
    far.onmessage = (message) => {
      const { id, method } = message as Message;
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: INFO };
      if (method === 'initialize') void far.send({ jsonrpc: '2.0', id: id!, result });
      else if (method === 'tools/call') sent.push(message as Message);
    };
    monitor = new WireMonitor(
      {
        suspected() {},
        streamEnded() {},
        heard() {},
        legFailed: (_, error) => Promise.reject(error),
        listenStreamLost() {},
      },
      { answersOnListenStream: false, offersListenStream: false },
      RECOVERY,
    );
    await client.close();
    client = new Client(INFO);
    await client.connect(near);
    monitor.watch(near as TransportShape, { overHttp: false, tellsStreamEnd: false });
    expect(await call({ timeout: 20 })).toBe('failed');
    expect(await call({ timeout: 20 })).toBe('failed');
    expect(monitor.outstanding).toBe(2);
    await far.send(textResult(sent[0]!.id) as never);
    expect(monitor.outstanding).toBe(1);
    await far.send(textResult(sent[1]!.id) as never);
    expect(monitor.outstanding).toBe(0);
  });
});

it('marks: calls from before are counted apart, until they settle', async () => {
  const before = [call(), call()];
  await until(() => held.length === 2);
  monitor.mark();
  const after = call();
  await until(() => held.length === 3);
  expect([monitor.inFlight, monitor.inFlightBeforeMark]).toEqual([3, 2]);
  held[2]!.json(rightAnswer(held[2]!));
  await after;
  expect([monitor.inFlight, monitor.inFlightBeforeMark]).toEqual([2, 2]);
  held[0]!.json(rightAnswer(held[0]!));
  await before[0];
  expect([monitor.inFlight, monitor.inFlightBeforeMark]).toEqual([1, 1]);
  monitor.mark();
  held[1]!.json(rightAnswer(held[1]!));
  await before[1];
  expect([monitor.inFlight, monitor.inFlightBeforeMark]).toEqual([0, 0]);
});

it('hears every kind of message once, and not its own', async () => {
  const before = monitor.messages;
  server.options.answer = ({ res }) => void res.writeHead(202).end();
  monitor.listenForMessage();
  expect(await call()).toBe('failed');
  expect([heard, monitor.messages]).toEqual([0, before]);
  server.options.answer = (exchange) => {
    const send = exchange.events();
    send(NOTIFICATION);
    held.push(exchange);
  };
  const pending = call();
  await until(() => heard === 1);
  expect(monitor.messages).toBeGreaterThan(before);
  held[0]!.res.write(`data: ${JSON.stringify(rightAnswer(held[0]!))}\n\n`);
  await pending;
  expect(heard).toBe(1);
  monitor.listenForMessage();
  await client.ping();
  expect(heard).toBe(2);
});

it.each([
  [200, true],
  [204, true],
  [404, true],
  [410, true],
  [405, false],
  [500, false],
  [307, false],
])('a DELETE that is answered with %i: the session has ended: %s', async (status, ended) => {
  server.options.first = (req, res) => {
    if (req.method !== 'DELETE') return false;
    res.writeHead(status).end();
    return true;
  };
  await transport.terminateSession().catch(() => {});
  expect(monitor.sessionEnded).toBe(ended);
});

describe('the target of a redirect that nobody followed', () => {
  it.each([
    ['https://mcp.example/mcp?token=secret#part', 'https://mcp.example/mcp'],
    ['https://user:secret@mcp.example:8443/a%20b', 'https://mcp.example:8443/a%20b'],
    ['//mcp.example/mcp', 'http://mcp.example/mcp'],
    [`https://mcp.example/${'x'.repeat(400)}`, `https://mcp.example/${'x'.repeat(180)}`],
    ['https://mcp.example/\u0007\u202e', 'https://mcp.example/%07%E2%80%AE'],
    ['javascript:alert(1)', undefined],
    ['http://', undefined],
  ])('%s', async (location, shown) => {
    server.options.answer = ({ res }) =>
      void res.writeHead(307, { location: encodeURI(decodeURI(location)) }).end();
    expect(await call()).toBe('failed');
    expect(monitor.redirectTarget).toBe(shown);
  });

  it('is none where the SDK followed', async () => {
    server.options.answer = (exchange) => {
      if (exchange.req.url === '/mcp') exchange.res.writeHead(308, { location: '/mcp/' }).end();
      else exchange.json(rightAnswer(exchange));
    };
    expect(await call()).toBe('answered');
    expect(monitor.redirectTarget).toBeUndefined();
  });
});

it('a later request of a call that has settled is refused, and never sent', async () => {
  const exchange = monitor.begin();
  const options = { onresumptiontoken: exchange.token };
  const request = (id: number) =>
    ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 't' } }) as const;
  void (transport as TransportShape).send(request(100), options).catch(() => {});
  await until(() => held.length === 1);
  monitor.end(exchange, true);
  await expect((transport as TransportShape).send(request(101), options)).rejects.toMatchObject({
    code: 'CONNECTION_CLOSED',
  });
  const later = call();
  await until(() => held.length === 2);
  held[1]!.json(rightAnswer(held[1]!));
  expect(await later).toBe('answered');
  expect(held.map(({ message }) => message?.id)).not.toContain(101);
});
