/**
 * The wire monitor sees the wire of a transport that we own: which call sent which request, what each request
 * carried, and whether its answer can still come. The SDK leaves a call whose answer stream has ended pending
 * until its timeout (60 s by default); the monitor answers in the server's stead, with an error.
 *
 * A message belongs to the exchange of the `send` that made it: ids tell nothing, since each side numbers its own
 * requests. A POST belongs to a message if its body is what that message becomes as JSON.
 */
import { closedError } from '../abort-error.ts';
import type { Reached } from '../evidence/failure.ts';
import { answerLost, isAnswerLost } from './answer-lost.ts';
import { AnswerStreams } from './answer-streams.ts';
import { PARSER_GRACE_MS } from './body-end.ts';
import {
  hasNoSession,
  type JsonRpcMessage,
  retryMsOf,
  type SendOptions,
  type TransportShape,
} from './client-shape.ts';
import { Exchange, exchangeOf, type TimedCall } from './exchange.ts';
import { Exchanges } from './exchanges.ts';
import {
  type ListenFilter,
  type ListenStreamLoss,
  Subscriptions,
  type SubscriptionsParts,
} from './subscriptions.ts';
import { WatchedFetch } from './watched-fetch.ts';

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
  /** A later request of a call failed. Settles as it does in the end; `again` sends it once more. */
  legFailed(exchange: Exchange, error: unknown, again: () => Promise<void>): Promise<void>;
  /** A stream for changes has ended. */
  listenStreamLost(loss: ListenStreamLoss): void;
}

/** What was learnt about a server; one object per connection, so that it outlives its generations. */
export interface ServerHabits {
  /** It answers on the GET stream what it accepted with 202, or whose stream it ended. */
  answersOnListenStream: boolean;
  /** It has opened a GET stream. */
  offersListenStream: boolean;
}

/**
 * How a generation was retired. `gone`: its session is gone or unreachable, so no answer stream is resumed.
 * `draining`: it still lives, and only what broke is given up.
 */
export type Retirement = 'gone' | 'draining';

/** Requests of no call's. */
const PROBES: readonly unknown[] = ['ping', 'server/discover'];

/** Where requests that are no call's ended up, by the errors that they were answered with. */
const REACHED = new WeakMap<object, Reached>();

/** Where the request ended up that failed with this error. */
export function reachedOf(error: unknown): Reached {
  return REACHED.get(Object(error)) ?? 'endpoint';
}

export class WireMonitor {
  /** Calls that were begun and have not settled. */
  inFlight = 0;
  /** Calls in flight that were begun before the last `mark()`. */
  inFlightBeforeMark = 0;
  isRetired = false;
  /** Asks the client for a stream for changes; set for one that has this. */
  listen: ((filter: ListenFilter) => Promise<unknown>) | undefined;
  /** JSON-RPC messages that came from the server so far. */
  messages = 0;
  readonly #listener: WireListener;
  readonly #exchanges = new Exchanges();
  readonly #habits: ServerHabits;
  readonly #recovery: SubscriptionsParts['recovery'];
  /** Made for a client that listens. */
  #subscriptions: Subscriptions | undefined;
  /** Made for a transport that takes our `fetch`. */
  #streams: AnswerStreams | undefined;
  #fetch: WatchedFetch | undefined;
  #transport: TransportShape | undefined;
  #begun = 0;
  #marked = 0;
  #isConnecting = false;
  #listening = false;
  /** Of which the SDK handles an event at this moment. */
  #reading: Exchange | undefined;

  constructor(listener: WireListener, habits: ServerHabits, recovery: SubscriptionsParts['recovery']) {
    this.#listener = listener;
    this.#habits = habits;
    this.#recovery = recovery;
  }

  /** Requests that the host gave up and the server may still be working on. */
  get outstanding(): number {
    return this.#exchanges.outstanding;
  }

  /** What the server last asked with `Retry-After`, in milliseconds. */
  get retryAfterMs(): number {
    return this.#fetch?.retryAfterMs ?? 0;
  }

  /** Of the last answer to a POST over our `fetch`; 0 without one. */
  get lastStatus(): number {
    return this.#fetch?.lastStatus ?? 0;
  }

  /** A request of the transport's was accepted; undefined where it does not take our `fetch`, as far as is seen. */
  get hasBeenAnswered(): boolean | undefined {
    return this.#fetch?.hasBeenAnswered || undefined;
  }

  /** A DELETE was answered with 2xx, 404 or 410. */
  get sessionEnded(): boolean {
    return this.#fetch?.sessionEnded ?? false;
  }

  /** On legacy SSE: the stream, which is the session, was opened. */
  get legacyStreamBegan(): boolean {
    return this.#fetch?.legacyStreamBegan ?? false;
  }

  /** Why the stream of legacy SSE could not be had, where `fetch` failed. */
  get legacyStreamError(): unknown {
    return this.#fetch?.legacyStreamError;
  }

  /** Of the last redirect that nobody followed: origin and path, at most 200 printable characters. */
  get redirectTarget(): string | undefined {
    return this.#fetch?.redirectTarget;
  }

  /** `limitMs`: for how long the call may take from its `startedAt` on. */
  begin(forward?: (token: string) => void, call?: TimedCall, limitMs?: number): Exchange {
    this.inFlight++;
    return new Exchange(++this.#begun, forward, this.#onEvent, call, limitMs);
  }

  /** `gaveUp`: it settled by a time-out or an abort, without an answer. */
  end(exchange: Exchange, gaveUp: boolean): void {
    this.inFlight--;
    if (exchange.number <= this.#marked) this.inFlightBeforeMark--;
    exchange.settled = true;
    if (exchange.stream !== undefined) this.#streams?.callEnded(exchange.stream);
    if (gaveUp && !exchange.answered) this.#exchanges.giveUp(exchange);
    else this.#exchanges.remove(exchange);
  }

  /** Watches a request that is no call: the one that opens the connection. */
  async duringExchange(ask: (exchange: Exchange) => Promise<void>): Promise<void> {
    const exchange = this.begin();
    this.#isConnecting = true;
    try {
      await ask(exchange);
    } finally {
      this.#isConnecting = false;
      this.end(exchange, false);
    }
  }

  /** Arms `heard()`, once. */
  listenForMessage(): void {
    this.#listening = true;
  }

  /** The calls that are in flight now are counted apart from later ones, until the next mark. */
  mark(): void {
    this.#marked = this.#begun;
    this.inFlightBeforeMark = this.inFlight;
  }

  /** Sees every message that goes over this transport from now on. */
  watch(transport: TransportShape, { overHttp, tellsStreamEnd }: TransportTraits): void {
    this.#transport = transport;
    if (this.#streams !== undefined) this.#streams.sdkTellsEnd = tellsStreamEnd;
    if (this.#fetch !== undefined)
      this.#fetch.answersComeWithPosts = transport.terminateSession !== undefined;
    const { onmessage } = transport;
    transport.onmessage = (message: JsonRpcMessage, extra: unknown) => {
      this.#received(message);
      this.#subscriptions?.received(
        message,
        (filter) => this.listen?.(filter) ?? Promise.reject(closedError()),
      );
      onmessage?.call(transport, message as never, extra as never);
    };
    const send = transport.send.bind(transport);
    transport.send = (message: JsonRpcMessage, options?: SendOptions) => {
      // Notifications and answers belong to no call, also where they carry its options, as a cancellation does.
      if (message.method === undefined || message.id === undefined) return send(message, options);
      const exchange = exchangeOf(options) ?? this.#exchanges.ofMessage(message);
      if (Subscriptions.asksFor(message)) return this.#listens().listen(send, message, options);
      if (exchange === undefined)
        return overHttp ? this.#sendOther(send, message, options) : send(message, options);
      if (exchange.message !== message) {
        // The call has settled while the host answered what the server asked.
        if (exchange.settled) return Promise.reject(closedError());
        this.#exchanges.remove(exchange);
      }
      exchange.sends(message, options, transport.sessionId);
      this.#exchanges.add(exchange);
      // SDK v1 sends again without the options, after it has signed in.
      if (!tellsStreamEnd) return send(message, exchange.options);
      const onRequestStreamEnd = () => this.#requestStreamEnded(exchange, message.id);
      const seen = {
        ...exchange.options,
        onresumptiontoken: exchange.token,
        onRequestStreamEnd,
      } as SendOptions;
      if (!exchange.askedForInput || !hasNoSession(transport)) return send(message, seen);
      return this.#sendLeg(exchange, () => send(message, seen));
    };
  }

  /** A stream for changes that the client opened before its transport was watched has ended. */
  lostUnseen(filter: ListenFilter): void {
    const { listen } = this;
    if (!this.isRetired && listen !== undefined) this.#listens().lostUnseen(filter, () => listen(filter));
  }

  #listens(): Subscriptions {
    this.#subscriptions ??= new Subscriptions({
      recovery: this.#recovery,
      lost: (loss) => this.#listener.listenStreamLost(loss),
      retryMs: () => retryMsOf(this.#transport),
      deliver: (message) => this.#transport?.onmessage?.(message as never),
    });
    return this.#subscriptions;
  }

  /** The call cannot be sent again, since a person has been asked; this request of it can, if nobody has run it. */
  async #sendLeg(exchange: Exchange, send: () => Promise<void>): Promise<void> {
    try {
      await send();
    } catch (error) {
      const again = () => (exchange.settled ? Promise.reject(closedError()) : send());
      await this.#listener.legFailed(exchange, error, again);
    }
  }

  /** A `fetch` that sees what goes over the wire of a Streamable HTTP or legacy SSE transport. */
  watchFetch(base: typeof fetch, kind: 'http' | 'sse'): typeof fetch {
    this.#streams ??= new AnswerStreams({
      exchanges: this.#exchanges,
      habits: this.#habits,
      settle: (exchange) => this.#settle(exchange),
      suspected: () => this.#listener.suspected(),
      retryMs: () => retryMsOf(this.#transport),
    });
    this.#fetch ??= new WatchedFetch(this.#exchanges, this.#streams, () => this.#listener.streamEnded());
    return this.#fetch.over(base, kind);
  }

  /** Of a call that has not settled, or of the handshake. */
  exchangeOf(body: unknown): Exchange | undefined {
    return this.#exchanges.ofBody(body);
  }

  /** A request that belongs to nobody any more. */
  isForgotten(body: unknown): boolean {
    const exchange = this.#exchanges.ofBody(body) ?? this.#exchanges.otherOfBody(body);
    const { id, method } = JSON.parse(String(body)) as JsonRpcMessage;
    return exchange === undefined && id !== undefined && method !== undefined;
  }

  isProbe(body: unknown): boolean {
    // SDK v2 begins a connection with the same request.
    if (this.#isConnecting) return false;
    return PROBES.includes(this.#exchanges.otherOfBody(body)?.message?.method);
  }

  /**
   * Gives up the streams that are not resumed any more, and settles their calls: now, and when later ones end. What
   * waits for a sign-in is not sent here any more.
   */
  retire(how: Retirement): void {
    this.isRetired = true;
    for (const { held } of this.#exchanges) held?.release();
    this.#subscriptions?.retire();
    this.#streams?.retire(how);
  }

  /** The client is about to close, which has nothing to reject of theirs. */
  cutThoseThatAwaitInput(): void {
    for (const exchange of [...this.#exchanges]) exchange.cutWhileItAwaitsInput();
  }

  /** A call may still be answered on the response to its own request, as far as our `fetch` has seen it. */
  get hasOpenExchange(): boolean {
    return this.#openExchanges().length > 0;
  }

  /** Settles the calls whose answer nothing on the wire is about to bring. */
  cutThoseNotOpen(): void {
    const open = this.#openExchanges();
    this.cutThoseThatAwaitInput();
    for (const exchange of [...this.#exchanges]) if (!open.includes(exchange)) this.#settle(exchange);
  }

  /** Settles every call: what follows ends it. */
  cutAll(): void {
    this.cutThoseThatAwaitInput();
    for (const exchange of [...this.#exchanges]) this.#settle(exchange);
  }

  #openExchanges(): Exchange[] {
    if (this.#fetch?.isUsed !== true) return [];
    return [...this.#exchanges].filter(({ settled, isOpen }) => !settled && isOpen);
  }

  /** No answer can come on this transport any more. */
  settleAll(): void {
    setTimeout(() => {
      for (const exchange of this.#exchanges) this.#settle(exchange);
    }, PARSER_GRACE_MS);
  }

  /** Made once, so that a call does not pay for it. The SDK hands on the message of an event in the same tick. */
  readonly #onEvent = (exchange: Exchange) => {
    this.#reading = exchange;
    if (exchange.settled) this.#streams?.callEnded(exchange.followed());
    queueMicrotask(() => {
      this.#reading = undefined;
    });
  };

  #received(message: JsonRpcMessage): void {
    if (isAnswerLost(message)) return;
    this.messages++;
    if (this.#listening) {
      this.#listening = false;
      this.#listener.heard();
    }
    if (message.method !== undefined || message.id === undefined) return;
    const exchange = this.#exchanges.answer(message.id);
    if (exchange !== undefined) {
      if (message.result !== undefined) exchange.answeredWith(message.result);
      this.#streams?.answered(exchange, message.result !== undefined);
    }
    // The SDK takes any result for the end of what it reads, and does not resume that stream.
    if (this.#reading !== undefined && this.#reading !== exchange && message.result !== undefined) {
      this.#streams?.abandoned(this.#reading);
    }
  }

  /** A request of our own, or of the client's, such as a ping: of interest is only where it ended up. */
  #sendOther(
    send: TransportShape['send'],
    message: JsonRpcMessage,
    options: SendOptions | undefined,
  ): Promise<void> {
    const other = new Exchange(0);
    other.sends(message, options, undefined);
    this.#exchanges.others.add(other);
    const sending = send(message, options);
    sending.then(
      () => this.#exchanges.others.delete(other),
      (error: unknown) => {
        this.#exchanges.others.delete(other);
        if (other.reached !== 'endpoint') REACHED.set(Object(error), other.reached);
      },
    );
    return sending;
  }

  /** Told by SDK v2, for every stream that it will not resume; where it takes our `fetch`, more is known. */
  #requestStreamEnded(exchange: Exchange, requestId: JsonRpcMessage['id']): void {
    if (exchange.answered || exchange.requestId !== requestId) return;
    if (this.#fetch?.isUsed) {
      this.#streams?.abandoned(exchange);
      return;
    }
    setTimeout(() => {
      if (exchange.requestId === requestId) this.#settle(exchange);
    }, PARSER_GRACE_MS);
  }

  /** Rejects the call through the SDK itself, so that the SDK forgets the request too. */
  #settle(exchange: Exchange): void {
    if (exchange.settled) this.#exchanges.remove(exchange);
    else if (!exchange.answered && exchange.requestId !== undefined) {
      this.#transport?.onmessage?.(answerLost(exchange.requestId) as never);
    }
  }
}
