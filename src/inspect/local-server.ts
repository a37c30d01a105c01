/** What listens for those who look on: this machine only, for whoever has the token, and for no other web page. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';

const LOOPBACK = '127.0.0.1';

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export class LocalServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #token = randomBytes(24).toString('base64url');
  readonly #isPublic: (path: string) => boolean;
  #port = 0;

  /**
   * `onUpgrade`: for WebSockets. Both are called only for requests that were let in. `isPublic`: paths that need no
   * token, because a page's own modules cannot pass it on to those that they import.
   */
  constructor(
    onRequest: Handler,
    onUpgrade?: UpgradeHandler,
    isPublic: (path: string) => boolean = () => false,
  ) {
    this.#isPublic = isPublic;
    this.#server = createServer((request, response) => {
      const refusal = this.#refusal(request);
      if (refusal === undefined) void this.#handle(onRequest, request, response);
      else response.writeHead(refusal, { 'content-type': 'text/plain' }).end('Refused');
    });
    this.#server.on('upgrade', (request, socket, head) => {
      // Node listens no more: a peer that resets would end the host's process.
      socket.on('error', () => socket.destroy());
      const refusal = this.#refusal(request);
      if (refusal === undefined && onUpgrade !== undefined) onUpgrade(request, socket, head);
      else
        socket.end(`HTTP/1.1 ${refusal ?? 404} Refused\r\nConnection: close\r\n\r\n`, () => socket.destroy());
    });
    // Nobody's process lives on because somebody could look at it.
    this.#server.on('connection', (socket: Socket) => {
      socket.unref();
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.unref();
  }

  /** Rejects when the port is taken. 0: any free one. */
  async listen(port: number): Promise<this> {
    this.#server.listen(port, LOOPBACK);
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** With the token: whoever has it is let in. */
  get url(): URL {
    return new URL(`http://${LOOPBACK}:${this.#port}/?token=${this.#token}`);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * A page of another site can reach this port: by its own name that resolves to 127.0.0.1 (`Host` tells), or from
   * the visitor's browser (`Origin` tells). A request of our own page has our origin, or none.
   */
  #refusal({ headers: { host, origin }, url = '' }: IncomingMessage): number | undefined {
    // Without the port where it is the usual one.
    const hosts = [LOOPBACK, 'localhost'].map((name) => new URL(`http://${name}:${this.#port}`).host);
    if (host === undefined || !hosts.includes(host)) return 421;
    if (origin !== undefined && origin !== `http://${host}`) return 403;
    if (!URL.canParse(url, this.url)) return 400;
    const { pathname, searchParams } = new URL(url, this.url);
    if (this.#isPublic(pathname)) return undefined;
    return isEqual(searchParams.get('token') ?? '', this.#token) ? undefined : 401;
  }

  /** What goes wrong in a handler harms this request alone. */
  async #handle(onRequest: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await onRequest(request, response, new URL(request.url ?? '', this.url));
    } catch {
      response.destroy();
    }
  }
}

/** In a time that does not depend on how much of it is right. */
function isEqual(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
