/** A TCP proxy before an HTTP server: resets, cuts after headers, stalls, refuses, and answers in the server's place. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What becomes of one POST, or of its answer. */
export type Intercept =
  | { readonly kind: 'cut'; readonly bodyBytes: number; readonly quietly: boolean }
  | { readonly kind: 'answer'; readonly status: string; readonly headers: string; readonly ran: boolean };

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** What strikes the next bytes of an answer. */
  intercept: Intercept | undefined;
}

/** The peer must have read the headers before the reset, or it is another fault. */
const AFTER_HEADERS_MS = 5;

export class FaultProxy {
  readonly #targetPort: number;
  readonly #pairs = new Set<Pair>();
  #armed: Intercept[] = [];
  #stalled = false;
  #port = 0;
  readonly #server = createServer((client) => this.#accept(client));

  constructor(targetPort: number) {
    this.#targetPort = targetPort;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections of clients that are open now. */
  get sockets(): number {
    return this.#pairs.size;
  }

  async listen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Nobody listens any more. */
  refuse(): void {
    this.#server.close();
    this.reset(1, false);
  }

  reset(share: number, quietly: boolean): void {
    const pairs = [...this.#pairs];
    for (const pair of pairs.slice(0, Math.ceil(pairs.length * share))) end(pair, quietly);
  }

  /** The next POSTs are struck, one each. */
  arm(intercept: Intercept, times: number): void {
    for (let n = 0; n < times; n++) this.#armed.push(intercept);
  }

  disarm(): void {
    this.#armed = [];
    for (const pair of this.#pairs) pair.intercept = undefined;
  }

  stall(): void {
    this.#stalled = true;
    for (const pair of this.#pairs) pause(pair);
  }

  goOn(): void {
    this.#stalled = false;
    for (const { client, upstream } of this.#pairs) {
      client.resume();
      upstream.resume();
    }
  }

  #accept(client: Socket): void {
    const upstream = connect(this.#targetPort, '127.0.0.1');
    const pair: Pair = { client, upstream, intercept: undefined };
    this.#pairs.add(pair);
    client.setNoDelay();
    upstream.setNoDelay();
    client.on('error', () => {});
    upstream.on('error', () => {});
    client.on('data', (chunk) => this.#asked(pair, chunk));
    upstream.on('data', (chunk) => answered(pair, chunk));
    client.once('close', () => {
      this.#pairs.delete(pair);
      upstream.destroy();
    });
    upstream.once('close', () => client.destroy());
    if (this.#stalled) pause(pair);
  }

  #asked(pair: Pair, chunk: Buffer): void {
    if (this.#armed.length > 0 && chunk.subarray(0, 5).toString('latin1') === 'POST ') {
      pair.intercept = this.#armed.shift();
    }
    const { client, upstream, intercept } = pair;
    if (intercept?.kind === 'answer' && !intercept.ran) {
      if (client.writable) client.end(answerOf(intercept));
      return;
    }
    upstream.write(chunk);
  }
}

function answered(pair: Pair, chunk: Buffer): void {
  const { client, intercept } = pair;
  if (intercept === undefined) {
    client.write(chunk);
    return;
  }
  pair.upstream.pause();
  if (intercept.kind === 'answer') {
    client.end(answerOf(intercept));
    return;
  }
  const headersEnd = chunk.indexOf('\r\n\r\n');
  client.write(headersEnd < 0 ? chunk : chunk.subarray(0, headersEnd + 4 + intercept.bodyBytes));
  setTimeout(() => end(pair, intercept.quietly), AFTER_HEADERS_MS);
}

function answerOf({ status, headers }: Intercept & { kind: 'answer' }): string {
  return `HTTP/1.1 ${status}\r\n${headers}content-length: 0\r\nconnection: close\r\n\r\n`;
}

function pause({ client, upstream }: Pair): void {
  client.pause();
  upstream.pause();
}

function end({ client, upstream }: Pair, quietly: boolean): void {
  if (quietly) client.destroy();
  else client.resetAndDestroy();
  upstream.resetAndDestroy();
}
