import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** How a connection ends: a reset, an orderly end of the TCP stream, or (after headers) of the body alone. */
export type Cut = 'rst' | 'fin' | 'eof';

export type ProxyAction =
  /** Forwarded untouched; to let the first few through. */
  | { kind: 'pass' }
  /** Forwarded after `ms`. */
  | { kind: 'delay'; ms: number }
  /** Cut before any response header; `forwarded`: the server has run it and answered completely. */
  | { kind: 'cut'; how: 'rst' | 'fin'; forwarded: boolean }
  /**
   * The response headers go through, then at most `bodyBytes` (0) of the body, then the cut.
   * The server has answered completely by then, unless `early`: cut `afterMs` (30) after the headers.
   */
  | { kind: 'cut-after-headers'; how: Cut; bodyBytes?: number; early?: boolean; afterMs?: number }
  /** Answered by the proxy; `forwarded`: the server has run it, and that answer is dropped. */
  | {
      kind: 'answer';
      status: number;
      forwarded: boolean;
      body?: string;
      contentType?: string;
      headers?: Record<string, string>;
    }
  /** The server runs it, that answer is dropped, and it is forwarded again to a second backend (the p404 row). */
  | { kind: 'retry-elsewhere'; port: number }
  /** Never answered. */
  | { kind: 'swallow'; forwarded: boolean };

/** To every GET: a Streamable HTTP server without a stream of its own. */
export const NO_LISTEN_STREAM: ProxyAction = { kind: 'answer', status: 405, forwarded: false };

/** The JSON-RPC method that is hit, or the verbs `GET` and `DELETE`; `'*'` any POST with a method. */
export type ProxyMatch = string;

export async function startProxy(targetPort: number): Promise<FaultProxy> {
  const proxy = new FaultProxy(targetPort);
  await proxy.listen();
  return proxy;
}

/** An HTTP proxy in this process that can break a connection at any point of an exchange. */
export class FaultProxy {
  /** Where it forwards to; may be changed at any time. */
  targetPort: number;
  /** TCP connections accepted so far. */
  connections = 0;
  gets = 0;
  deletes = 0;
  #port = 0;
  #posts = new Map<string, number>();
  #queue: { match: ProxyMatch; action: ProxyAction; left: number }[] = [];
  #nextConnections: ('rst' | 'fin')[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerResponse>();
  readonly #server = createServer({ keepAliveTimeout: 30_000 }, (req, res) => {
    this.#handle(req, res).catch(() => res.destroy());
  });

  constructor(targetPort: number) {
    this.targetPort = targetPort;
    this.#server.on('connection', (socket) => this.#accepted(socket));
  }

  get port(): number {
    return this.#port;
  }

  url(path = '/mcp'): URL {
    return new URL(path, `http://127.0.0.1:${this.#port}`);
  }

  /** Sockets that clients hold open now. */
  get openSockets(): number {
    return this.#sockets.size;
  }

  /** Open GET streams. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** POSTs seen on the wire: all, or with this JSON-RPC method. undici's own re-sends count. */
  posts(method?: string): number {
    if (method !== undefined) return this.#posts.get(method) ?? 0;
    return [...this.#posts.values()].reduce((sum, each) => sum + each, 0);
  }

  /** What happens to the next `times` requests that match. Earlier orders come first. */
  next(match: ProxyMatch, action: ProxyAction, times = 1): this {
    this.#queue.push({ match, action, left: times });
    return this;
  }

  /** From now on, always, until `reset()`. */
  always(match: ProxyMatch, action: ProxyAction): this {
    return this.next(match, action, Number.POSITIVE_INFINITY);
  }

  /** The next connection is cut as soon as it is accepted. Open ones are closed, so that a new one is needed. */
  async cutNextConnection(how: 'rst' | 'fin', times = 1): Promise<void> {
    for (let n = 0; n < times; n++) this.#nextConnections.push(how);
    await this.#dropSockets();
  }

  /** Forgets what was ordered. */
  reset(): void {
    this.#queue = [];
    this.#nextConnections = [];
  }

  /** Nobody listens: ECONNREFUSED. Open connections are closed. */
  async refuse(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    await this.#dropSockets();
    await closed;
  }

  /** Listens again on the same port. */
  async reopen(): Promise<void> {
    await this.listen();
  }

  /** Closes what is open. */
  cutConnections(): Promise<void> {
    return this.#dropSockets();
  }

  /** Ends the open GET streams. */
  dropStreams(how: Cut = 'eof'): void {
    for (const res of this.#streams) cut(res, how);
  }

  async listen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.refuse();
  }

  #accepted(socket: Socket): void {
    this.connections++;
    const how = this.#nextConnections.shift();
    if (how === 'rst') {
      socket.resetAndDestroy();
      return;
    }
    if (how === 'fin') {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
  }

  async #dropSockets(): Promise<void> {
    await Promise.all(
      [...this.#sockets].map((socket) => {
        const closed = once(socket, 'close');
        socket.destroy();
        return closed;
      }),
    );
    // A client in this process sees the end of its idle socket one turn of the event loop later; a request
    // before that would die on the old socket and not on the new connection.
    await wait(20);
  }

  #take(method: string): ProxyAction {
    const found = this.#queue.find(
      ({ match }) => match === method || (match === '*' && method !== 'GET' && method !== 'DELETE'),
    );
    if (found === undefined) return { kind: 'pass' };
    found.left--;
    if (found.left <= 0) this.#queue.splice(this.#queue.indexOf(found), 1);
    return found.action;
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req);
    const method = req.method === 'POST' ? rpcMethod(body) : (req.method ?? '');
    if (req.method === 'POST') this.#posts.set(method, (this.#posts.get(method) ?? 0) + 1);
    if (req.method === 'DELETE') this.deletes++;
    if (req.method === 'GET') {
      this.gets++;
      this.#streams.add(res);
      res.once('close', () => this.#streams.delete(res));
    }
    const action = this.#take(method);
    switch (action.kind) {
      case 'pass':
        return this.#pass(req, res, body);
      case 'delay':
        await wait(action.ms);
        return this.#pass(req, res, body);
      case 'cut':
        if (action.forwarded) await this.#forwardAndDrop(req, body);
        return cut(res, action.how);
      case 'cut-after-headers':
        return this.#cutAfterHeaders(req, res, body, action);
      case 'answer':
        if (action.forwarded) await this.#forwardAndDrop(req, body);
        res.writeHead(action.status, {
          'content-type': action.contentType ?? 'text/plain',
          ...action.headers,
        });
        res.end(action.body ?? '');
        return;
      case 'retry-elsewhere':
        await this.#forwardAndDrop(req, body);
        return this.#pass(req, res, body, action.port);
      case 'swallow':
        if (action.forwarded) await this.#forwardAndDrop(req, body);
        return;
    }
  }

  /** Streams the answer through; what breaks on one side breaks the other in the same way. */
  async #pass(
    req: IncomingMessage,
    res: ServerResponse,
    body: Buffer,
    port = this.targetPort,
  ): Promise<void> {
    const upstream = this.#send(req, body, port);
    res.once('close', () => upstream.destroy());
    const answer = await answerOf(upstream);
    res.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    res.flushHeaders();
    answer.pipe(res);
    answer.once('error', () => cut(res, 'rst'));
    await once(res, 'close');
  }

  async #forwardAndDrop(req: IncomingMessage, body: Buffer): Promise<void> {
    const answer = await answerOf(this.#send(req, body, this.targetPort));
    await bodyOf(answer);
  }

  async #cutAfterHeaders(
    req: IncomingMessage,
    res: ServerResponse,
    body: Buffer,
    { how, bodyBytes = 0, early = false, afterMs = 30 }: ProxyAction & { kind: 'cut-after-headers' },
  ): Promise<void> {
    const answer = await answerOf(this.#send(req, body, this.targetPort));
    const { 'content-length': length, ...headers } = endToEnd(answer.headers);
    // A clean end needs a chunked body; the other cuts keep the length that was promised.
    res.writeHead(
      answer.statusCode ?? 502,
      how === 'eof' || length === undefined ? headers : { ...headers, 'content-length': length },
    );
    res.flushHeaders();
    if (early) answer.resume();
    else {
      const whole = await bodyOf(answer);
      if (bodyBytes > 0) res.write(whole.subarray(0, bodyBytes));
    }
    // The peer must have read the headers before the reset, or it is another fault.
    await wait(afterMs);
    cut(res, how);
  }

  #send(req: IncomingMessage, body: Buffer, port: number): ReturnType<typeof request> {
    const { connection: _connection, 'transfer-encoding': _encoding, ...headers } = req.headers;
    const length = body.length > 0 ? { 'content-length': body.length } : {};
    const upstream = request({
      host: '127.0.0.1',
      port,
      path: req.url,
      method: req.method,
      headers: { ...headers, ...length, host: `127.0.0.1:${port}` },
      agent: false,
    });
    upstream.on('error', () => {});
    upstream.end(body);
    return upstream;
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function cut(res: ServerResponse, how: Cut): void {
  if (how === 'eof') res.end();
  else if (how === 'fin') res.socket?.destroy();
  else res.socket?.resetAndDestroy();
}

async function answerOf(upstream: ReturnType<typeof request>): Promise<IncomingMessage> {
  const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
  return answer;
}

/** Headers without those that belong to one hop. */
function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const {
    connection: _connection,
    'keep-alive': _keepAlive,
    'transfer-encoding': _encoding,
    ...rest
  } = headers;
  return rest;
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch {
    // Cut short: what came is what there is.
  }
  return Buffer.concat(chunks);
}

function rpcMethod(body: Buffer): string {
  try {
    const { method } = JSON.parse(body.toString()) as { method?: string };
    return method ?? '(answer)';
  } catch {
    return '(not JSON)';
  }
}
