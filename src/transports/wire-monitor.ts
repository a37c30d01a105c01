/**
 * The monitor sees the wire of a transport that we own: which call sent which request, what each request
 * carried, and whether its answer can still come. The SDK leaves a call whose answer stream has ended pending
 * until its timeout (60 s by default); the monitor answers in the server's stead, with an error.
 */
import type { Evidence } from '../../machines/vocabulary.ts';
import { whenPipedBodyEnds, whenReadBodyEnds } from './body-end.ts';
import type { JsonRpcMessage, SendOptions, TransportShape } from './client-shape.ts';
import { Exchange, exchangeOf } from './exchange.ts';
import { headerOf, requestIdOf, retryAfterMsOf } from './http-wire.ts';

/** A last chunk may still be on its way through the SDK's parser when the stream under it has ended. */
const PARSER_GRACE_MS = 25;

/** How often the SDK tries to resume an answer stream (`reconnectionOptions.maxRetries`, both versions). */
const RESUME_TRIES = 2;

/** In the error that the monitor answers with, by which it is known again. */
const ANSWER_LOST_DATA = Object.freeze({ reason: 'answer-lost' });

const ANSWER_LOST: Evidence = { connection: 'suspect', execution: 'unknown', cause: 'answer-lost' };

/** What the monitor has seen of a call that failed with this error. */
export function settledByMonitor(error: unknown): Evidence | undefined {
  return Object(error).data === ANSWER_LOST_DATA ? ANSWER_LOST : undefined;
}

export interface TransportTraits {
  /** An answer can be lost without the transport closing. */
  readonly overHttp: boolean;
  /** It takes `onRequestStreamEnd`, and calls it when a request's stream has ended for good (SDK v2). */
  readonly tellsStreamEnd: boolean;
}

export interface WireListener {
  /** Something on the wire is worth a probe. */
  suspected(): void;
  /** The stream that carries every answer of a legacy SSE session has ended. */
  streamEnded(): void;
  /** A message of any kind came from the server; called only after `listenForMessage()`, once. */
  heard(): void;
}

/** What was learnt about a server; one object per connection, so that it outlives its generations. */
export interface ServerHabits {
  /** It answers on the GET stream what it accepted with 202, or whose stream it ended. */
  answersOnListenStream: boolean;
}

/**
 * How a generation was retired. `gone`: its session is gone or unreachable, so no answer stream is resumed.
 * `draining`: it still lives, and only what broke is given up.
 */
export type Retirement = 'gone' | 'draining';

export class WireMonitor {
  /** Calls that were begun and have not settled. */
  inFlight = 0;
  /** Calls in flight that were begun before the last `mark()`. */
  inFlightBeforeMark = 0;
  /** What the server last asked with `Retry-After`, in milliseconds. */
  retryAfterMs = 0;
  /** Of the last JSON-RPC message from the server, or of the construction, by `performance.now()`. */
  lastMessageAt = performance.now();
  /** A DELETE was answered with 2xx, 404 or 410. */
  sessionEnded = false;
  /** Of the last redirect that nobody followed: origin and path, at most 200 printable characters. */
  redirectTarget: string | undefined;
  readonly habits: ServerHabits;
  readonly #byRequestId = new Map<string | number, Exchange>();
  readonly #listener: WireListener;
  #transport: TransportShape | undefined;
  #begun = 0;
  #marked = 0;

  constructor(listener: WireListener, habits: ServerHabits) {
    this.#listener = listener;
    this.habits = habits;
  }

  /** Requests that the host gave up and the server may still be working on. */
  get outstanding(): number {
    return 0;
  }

  begin(forward?: (token: string) => void): Exchange {
    this.inFlight++;
    return new Exchange(++this.#begun, forward);
  }

  /** Arms `heard()`, once. */
  listenForMessage(): void {}

  /** The calls that are in flight now are counted apart from later ones, until the next mark. */
  mark(): void {
    this.#marked = this.#begun;
    this.inFlightBeforeMark = this.inFlight;
  }

  /** Watches a request that is no call: the one that opens the connection. */
  async duringExchange(ask: (exchange: Exchange) => Promise<void>): Promise<void> {
    const exchange = this.begin();
    try {
      await ask(exchange);
    } finally {
      this.end(exchange, false);
    }
  }

  /** `gaveUp`: it settled by a time-out or an abort, without an answer. */
  end(exchange: Exchange, _gaveUp: boolean): void {
    this.inFlight--;
    if (exchange.number <= this.#marked) this.inFlightBeforeMark--;
    exchange.settled = true;
    if (exchange.requestId !== undefined && this.#byRequestId.size > 0) {
      this.#byRequestId.delete(exchange.requestId);
    }
  }

  /** Sees every request that the client hands to its transport from now on. */
  watch(transport: TransportShape, { overHttp, tellsStreamEnd }: TransportTraits): void {
    this.#transport = transport;
    const send = transport.send.bind(transport);
    transport.send = (message: JsonRpcMessage, options?: SendOptions) => {
      const exchange = exchangeOf(options);
      if (exchange === undefined || message.method === undefined || message.id === undefined) {
        return send(message, options);
      }
      if (exchange.requestId !== undefined) this.#byRequestId.delete(exchange.requestId);
      exchange.beginLeg(message.id, transport.sessionId);
      if (overHttp) this.#byRequestId.set(message.id, exchange);
      if (!tellsStreamEnd) return send(message, options);
      const { id } = message;
      const onRequestStreamEnd = () => this.#settleUnlessAnswered(exchange, id);
      return send(message, {
        ...options,
        onresumptiontoken: exchange.token,
        onRequestStreamEnd,
      } as SendOptions);
    };
  }

  /** A `fetch` that sees what goes over the wire of a Streamable HTTP or legacy SSE transport. */
  watchFetch(base: typeof fetch, kind: 'http' | 'sse'): typeof fetch {
    return (url, init) => {
      if (init?.method === 'POST') return this.#post(base(url, init), init);
      if (init?.method !== undefined && init.method !== 'GET') return base(url, init);
      return kind === 'sse' ? this.#answerStream(base(url, init)) : this.#listen(base(url, init), init);
    };
  }

  /** Settles the calls whose stalled streams are given up, now and later. */
  retire(_how: Retirement): void {
    for (const exchange of this.#byRequestId.values()) {
      if (exchange.stalled) this.#settle(exchange);
    }
  }

  /** No answer can come on this transport any more. */
  settleAll(): void {
    setTimeout(() => {
      for (const exchange of this.#byRequestId.values()) this.#settle(exchange);
    }, PARSER_GRACE_MS);
  }

  /** Returns the very promise of `fetch`: the SDK waits for nothing that it would not wait for without us. */
  #post(responding: Promise<Response>, init: RequestInit): Promise<Response> {
    responding.then((response) => this.#responded(response, init)).catch(() => {});
    return responding;
  }

  #responded(response: Response, init: RequestInit): void {
    const { status, body } = response;
    if (status === 200) {
      if (body) whenPipedBodyEnds(body, () => this.#answerStreamEnded(this.#exchangeOf(init)));
    } else if (status === 202) {
      if (this.#answersComeWithPosts) this.#settleUnlessAnswered(this.#exchangeOf(init));
    } else if (status === 429 || status === 503) {
      this.retryAfterMs = retryAfterMsOf(response);
    }
  }

  /** The call that a POST was for, if it has not settled. */
  #exchangeOf({ body }: RequestInit): Exchange | undefined {
    if (this.#byRequestId.size === 0) return undefined;
    const id = requestIdOf(body);
    return id === undefined ? undefined : this.#byRequestId.get(id);
  }

  /** On legacy SSE every POST is answered with 202, and the answer comes on the one stream. */
  get #answersComeWithPosts(): boolean {
    return this.#transport?.terminateSession !== undefined;
  }

  /** Streamable HTTP's GET: the server's own messages, or the rest of an answer stream that was cut. */
  async #listen(responding: Promise<Response>, init: RequestInit | undefined): Promise<Response> {
    const lastEventId = init === undefined ? null : headerOf(init, 'last-event-id');
    const resumed = lastEventId === null ? undefined : this.#stalledAt(lastEventId);
    try {
      const response = await responding;
      if (!response.ok) this.#refused(response.status, resumed);
      else if (resumed !== undefined) this.#resumed(resumed, response);
      return response;
    } catch (error) {
      this.#notResumed(resumed);
      throw error;
    }
  }

  async #answerStream(responding: Promise<Response>): Promise<Response> {
    const response = await responding;
    // EventSource would open another stream, onto a session that was never initialised.
    if (response.ok && response.body) {
      whenReadBodyEnds(response.body, () => this.#listener.streamEnded());
    }
    return response;
  }

  #resumed(exchange: Exchange, { body }: Response): void {
    exchange.failedResumes = 0;
    exchange.stalled = false;
    if (body) whenPipedBodyEnds(body, () => this.#answerStreamEnded(exchange));
  }

  /** 405: the server has no such stream, and the SDK will not ask again. */
  #refused(status: number, exchange: Exchange | undefined): void {
    if (status !== 405) this.#notResumed(exchange);
    else if (exchange !== undefined) this.#settleUnlessAnswered(exchange);
  }

  #notResumed(exchange: Exchange | undefined): void {
    this.#listener.suspected();
    if (exchange === undefined) return;
    exchange.failedResumes++;
    if (exchange.failedResumes >= RESUME_TRIES) this.#settleUnlessAnswered(exchange);
  }

  #stalledAt(lastEventId: string): Exchange | undefined {
    for (const exchange of this.#byRequestId.values()) {
      if (exchange.stalled && exchange.lastEventId === lastEventId) return exchange;
    }
    return undefined;
  }

  #answerStreamEnded(exchange: Exchange | undefined): void {
    if (exchange === undefined || exchange.settled) return;
    if (exchange.lastEventId === undefined) {
      this.#settleUnlessAnswered(exchange);
      return;
    }
    exchange.stalled = true;
    this.#listener.suspected();
  }

  /** `requestId`: which request of the call; a later one may be under way by the time that this is looked at. */
  #settleUnlessAnswered(exchange: Exchange | undefined, requestId = exchange?.requestId): void {
    if (exchange === undefined) return;
    setTimeout(() => this.#settle(exchange, requestId), PARSER_GRACE_MS);
  }

  /** Rejects the call through the SDK itself, so that the SDK forgets the request too. */
  #settle(exchange: Exchange, requestId = exchange.requestId): void {
    if (exchange.settled || requestId === undefined || exchange.requestId !== requestId) return;
    const message = 'The answer can no longer come: its stream ended before it';
    const error = { code: -32000, message, data: ANSWER_LOST_DATA };
    this.#transport?.onmessage?.({ jsonrpc: '2.0', id: requestId, error } as never);
  }
}
