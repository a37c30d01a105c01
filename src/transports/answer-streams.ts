/**
 * Follows the answer streams of Streamable HTTP, from the POST through every resume, and finds the moment at which no
 * answer can come any more.
 */
import type { AnswerStream } from './answer-stream.ts';
import { type BodyEnd, PARSER_GRACE_MS, whenPipedBodyEnds } from './body-end.ts';
import type { Exchange } from './exchange.ts';
import type { Exchanges } from './exchanges.ts';
import { headerOf, noSuchStream } from './http-wire.ts';
import { ListenStream } from './listen-stream.ts';
import { type Asked, isFollowedGet } from './redirects.ts';
import { ProbePace } from './stream-pace.ts';
import type { Retirement, ServerHabits } from './wire-monitor.ts';

/** For how long an answer is waited for on the GET stream of a server that was never seen to answer there. */
const LISTEN_WAIT_MS = 5_000;

const LAST_EVENT_ID = 'last-event-id';

export interface AnswerStreamsParts {
  readonly exchanges: Exchanges;
  readonly habits: ServerHabits;
  /** No answer to it can come any more. */
  readonly settle: (exchange: Exchange) => void;
  readonly suspected: () => void;
  /** What the server last asked with `retry`, in milliseconds. */
  readonly retryMs: () => number;
}

export class AnswerStreams {
  /** The SDK says when it will not resume a stream (v2). */
  sdkTellsEnd = false;
  readonly #parts: AnswerStreamsParts;
  readonly #listenStream: ListenStream;
  /** Those whose resumption has ended or failed, in that order: the SDK will ask again. */
  readonly #toResume = new Set<Exchange>();
  /** Of calls that have settled without a result; the SDK would go on resuming them. */
  readonly #unwanted = new Set<AnswerStream>();
  readonly #probes = new ProbePace();
  #retired: Retirement | undefined;

  constructor(parts: AnswerStreamsParts) {
    this.#parts = parts;
    const { habits, suspected, retryMs } = parts;
    this.#listenStream = new ListenStream({
      habits,
      suspected,
      retryMs,
      ended: () => this.#settleWaiting(),
    });
  }

  retire(how: Retirement): void {
    if (this.#retired !== 'gone') this.#retired = how;
    if (how === 'gone') this.#listenStream.retire();
    for (const exchange of this.#parts.exchanges) {
      if (exchange.stream?.stalled && this.#givesUp(exchange.stream)) this.#parts.settle(exchange);
    }
  }

  /** The server accepted the request, and will not answer it on this response. */
  accepted(exchange: Exchange): void {
    exchange.followed().end = 'ended';
    this.#endedForGood(exchange, exchange.followed());
  }

  /** The response to its POST was read to its end, the SDK's parser included. */
  postEnded(exchange: Exchange, how: BodyEnd): void {
    const stream = exchange.followed();
    if (stream.resumes > 0) return;
    stream.end = how;
    this.#ended(exchange, stream);
  }

  /** The SDK does not resume it, or not any more. */
  abandoned(exchange: Exchange): void {
    const stream = exchange.followed();
    stream.abandoned = true;
    if (stream.stalled) this.#parts.settle(exchange);
  }

  /** The answer came, perhaps where it was waited for. */
  answered({ stream }: Exchange, isResult: boolean): void {
    if (stream === undefined) return;
    if (stream.waiting) this.#parts.habits.answersOnListenStream = true;
    // SDK v1 resumes a stream that brought an error.
    stream.hasAnswer = isResult || this.sdkTellsEnd;
    if (stream.hasAnswer) this.#unwanted.delete(stream);
  }

  /** The call has settled. Its stream is resumed no more. */
  callEnded(stream: AnswerStream): void {
    if (stream.lastEventId === undefined || stream.hasAnswer || stream.abandoned) return;
    this.#unwanted.add(stream);
    stream.pace.release();
  }

  /** A GET of the transport's: the server's own messages, or the rest of an answer stream that ended. */
  async get(asked: Asked, init: RequestInit, fetch: typeof globalThis.fetch): Promise<Response> {
    const lastEventId = headerOf(init, LAST_EVENT_ID);
    const exchange = lastEventId === null ? this.#takeForgotten(init) : this.#endedAt(lastEventId);
    if (exchange === undefined) {
      return this.#takeUnwanted(lastEventId) ? noSuchStream() : this.#listenStream.get(asked, init, fetch);
    }
    const stream = exchange.followed();
    await stream.pace.reopening(this.#parts.retryMs(), init.signal);
    if (exchange.settled || this.#retired === 'gone') {
      this.#unwanted.delete(stream);
      return noSuchStream();
    }
    return this.#resume(exchange, stream, asked, fetch(asked, init));
  }

  async #resume(
    exchange: Exchange,
    stream: AnswerStream,
    asked: Asked,
    responding: Promise<Response>,
  ): Promise<Response> {
    stream.resuming = true;
    try {
      const response = await responding;
      if (response.ok) this.#resumed(exchange, stream, response);
      else if (isFollowedGet(asked, response)) stream.resuming = false;
      else this.#refused(exchange, stream, response.status);
      return response;
    } catch (error) {
      this.#notResumed(exchange, stream);
      throw error;
    }
  }

  #resumed(exchange: Exchange, stream: AnswerStream, { body }: Response): void {
    stream.resumed();
    stream.pace.opened();
    const { resumes } = stream;
    const ended = (how: BodyEnd) => {
      stream.end = how;
      stream.pace.ended();
      this.#toResume.add(exchange);
      setTimeout(() => {
        if (stream.hasAnswer) this.#toResume.delete(exchange);
        if (exchange.stream === stream && stream.resumes === resumes) this.#ended(exchange, stream);
      }, PARSER_GRACE_MS);
    };
    if (body === null) ended('ended');
    else whenPipedBodyEnds(body, ended, (event) => stream.pace.read(event));
  }

  #refused(exchange: Exchange, stream: AnswerStream, status: number): void {
    if (status === 401 || status === 403) stream.forgetEvent();
    // 405: the server has no such stream, and the SDK will not ask again.
    if (status === 405) this.#parts.settle(exchange);
    else this.#notResumed(exchange, stream);
  }

  #notResumed(exchange: Exchange, stream: AnswerStream): void {
    stream.pace.refused();
    // What the host gave up is no sign of trouble.
    if (!exchange.settled) this.#parts.suspected();
    const wasLastTry = stream.resumeFailed() && !this.sdkTellsEnd;
    if (wasLastTry || this.#resumesTooLate(exchange)) this.#parts.settle(exchange);
    else this.#toResume.add(exchange);
  }

  #endedAt(lastEventId: string): Exchange | undefined {
    for (const exchange of this.#parts.exchanges) {
      if (exchange.answered || exchange.settled || exchange.stream?.resuming) continue;
      if (exchange.stream?.lastEventId === lastEventId) return exchange;
    }
    return undefined;
  }

  /**
   * When a resumed stream ends without a new event, both SDKs forget where it was and ask for the server's own stream
   * instead, which never brings the answer; so the id is put back. Where this GET was meant for the server's own
   * stream after all, the two are only read by each other's reader, and both hand on every message.
   */
  #takeForgotten(init: RequestInit): Exchange | undefined {
    for (const exchange of this.#toResume) {
      this.#toResume.delete(exchange);
      const { stream } = exchange;
      if (exchange.answered || exchange.settled || !stream?.isForgotten) continue;
      if (putHeader(init, LAST_EVENT_ID, stream.lastEventId as string)) return exchange;
      this.#parts.settle(exchange);
    }
    return undefined;
  }

  /** Whether this GET is the resume of a call that has settled. */
  #takeUnwanted(lastEventId: string | null): boolean {
    for (const stream of this.#unwanted) {
      const isAsked =
        lastEventId === null
          ? stream.isForgotten && stream.end !== undefined
          : stream.lastEventId === lastEventId;
      if (isAsked) return this.#unwanted.delete(stream);
    }
    return false;
  }

  #ended(exchange: Exchange, stream: AnswerStream): void {
    if (exchange.answered || stream.resuming) return;
    if (stream.lastEventId === undefined || stream.abandoned) {
      this.#endedForGood(exchange, stream);
    } else if (this.#givesUp(stream)) {
      this.#parts.settle(exchange);
    } else if (this.#resumesTooLate(exchange)) {
      if (this.#parts.habits.answersOnListenStream) this.#endedForGood(exchange, stream);
      else this.#parts.settle(exchange);
    } else {
      stream.stalled = true;
      if (!exchange.settled && this.#probes.due()) this.#parts.suspected();
    }
  }

  #endedForGood(exchange: Exchange, stream: AnswerStream): void {
    if (stream.end === 'broke' || this.#retired === 'gone' || !this.#listenStream.isOpen) {
      this.#parts.settle(exchange);
      return;
    }
    const unbounded = this.#parts.habits.answersOnListenStream || exchange.settled;
    stream.wait(unbounded ? undefined : LISTEN_WAIT_MS, () => this.#parts.settle(exchange));
  }

  #givesUp({ end }: AnswerStream): boolean {
    return this.#retired === 'gone' || (this.#retired === 'draining' && end === 'broke');
  }

  /** The SDK waits as long as the server asked, and the call does not. */
  #resumesTooLate(exchange: Exchange): boolean {
    return !exchange.settled && this.#parts.retryMs() > exchange.remainingMs;
  }

  #settleWaiting(): void {
    for (const exchange of this.#parts.exchanges) if (exchange.stream?.waiting) this.#parts.settle(exchange);
  }
}

function putHeader({ headers }: RequestInit, name: string, value: string): boolean {
  try {
    if (headers instanceof Headers) headers.set(name, value);
    return headers instanceof Headers;
  } catch {
    return false;
  }
}
