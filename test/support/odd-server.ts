import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Message {
  jsonrpc: '2.0';
  id?: string | number;
  method?: string;
  params?: { name?: string; arguments?: Record<string, unknown>; requestId?: number };
}

/** What one exchange with the server is about. */
export interface OddExchange {
  readonly id: string | number;
  readonly message: Message;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** Begins an event stream as the response; returns what writes to it. */
  events(status?: number, contentType?: string): (message: unknown, eventId?: string) => void;
  json(body: unknown, status?: number, contentType?: string): void;
}

export interface OddOptions {
  /** Answers `tools/call` and `tools/list`. Without it both are answered well, as JSON. */
  answer?: (exchange: OddExchange) => void;
  /** GETs that are no resumption; default 405. */
  listen?: (exchange: OddExchange) => void;
  /** GETs with a `last-event-id`; default 404. */
  resume?: (exchange: OddExchange, lastEventId: string) => void;
  /** Before everything else; true if it has answered. */
  first?: (req: IncomingMessage, res: ServerResponse, body: string) => boolean;
}

export const textResult = (id: unknown, text = 'ok') => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
});

export const listResult = (id: unknown) => ({ jsonrpc: '2.0', id, result: { tools: [] } });

/** The right answer to a `tools/call` or a `tools/list`. */
export const rightAnswer = ({ id, message }: OddExchange) =>
  message.method === 'tools/list' ? listResult(id) : textResult(id);

/** A Streamable HTTP server written by hand, which may answer in any way, on a socket in this process. */
export class OddServer {
  /** The POSTs, GETs and DELETEs, by method: what came over the wire, whatever became of it. */
  readonly seen: string[] = [];
  options: OddOptions = {};
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((req, res) => void this.#handle(req, res));

  async start(options: OddOptions = {}): Promise<this> {
    this.options = options;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`);
  }

  /** The same server by another name: another origin. */
  get otherOrigin(): URL {
    return new URL(this.url.href.replace('127.0.0.1', 'localhost'));
  }

  count(what: string): number {
    return this.seen.filter((each) => each === what).length;
  }

  /** Every connection breaks, and none is accepted any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    res.on('error', () => {});
    let body = '';
    for await (const chunk of req) body += chunk;
    const message = (body === '' ? {} : JSON.parse(body)) as Message;
    const lastEventId = req.headers['last-event-id'];
    const what = req.method === 'POST' ? (message.method ?? 'answer') : `${req.method}`;
    this.seen.push(lastEventId === undefined ? what : `${what} after ${lastEventId}`);
    if (this.options.first?.(req, res, body)) return;
    const exchange = exchangeOf(message, req, res);
    const { id } = message;
    if (req.method === 'DELETE') res.writeHead(200).end();
    else if (typeof lastEventId === 'string') {
      if (this.options.resume === undefined) res.writeHead(404).end();
      else this.options.resume(exchange, lastEventId);
    } else if (req.method === 'GET') {
      if (this.options.listen === undefined) res.writeHead(405).end();
      else this.options.listen(exchange);
    } else if (id === undefined || message.method === undefined) res.writeHead(202).end();
    else if (message.method === 'initialize') initialise(res, id);
    else if (message.method === 'ping') exchange.json({ jsonrpc: '2.0', id, result: {} });
    else if (this.options.answer === undefined) exchange.json(rightAnswer(exchange));
    else this.options.answer(exchange);
  }
}

function initialise(res: ServerResponse, id: unknown): void {
  const result = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'odd', version: '1.0.0' },
  };
  res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': randomUUID() });
  res.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

function exchangeOf(message: Message, req: IncomingMessage, res: ServerResponse): OddExchange {
  return {
    id: message.id as number,
    message,
    req,
    res,
    events(status = 200, contentType = 'text/event-stream') {
      res.writeHead(status, { 'content-type': contentType });
      res.flushHeaders();
      return (event, eventId) => {
        const data = typeof event === 'string' ? event : JSON.stringify(event);
        res.write(`${eventId === undefined ? '' : `id: ${eventId}\n`}data: ${data}\n\n`);
      };
    },
    json(body, status = 200, contentType = 'application/json') {
      res.writeHead(status, { 'content-type': contentType });
      res.end(JSON.stringify(body));
    },
  };
}
