/**
 * Follows the answer streams of Streamable HTTP, from the POST through every resume, and finds the moment at which no
 * answer can come any more.
 */
import type { AnswerStream } from './answer-stream.ts';
import { type BodyEnd, PARSER_GRACE_MS, whenPipedBodyEnds } from './body-end.ts';
import type { Exchange } from './exchange.ts';
import type { Exchanges } from './exchanges.ts';
import { headerOf } from './http-wire.ts';
import { ListenStream } from './listen-stream.ts';
import { type Asked, isFollowedGet } from './redirects.ts';
import type { Retirement, ServerHabits } from './wire-monitor.ts';

/** For how long an answer is waited for on the GET stream of a server that was never seen to answer there. */
const LISTEN_WAIT_MS = 5_000;

const WANTS_CREDENTIALS: readonly number[] = [401, 403];

const LAST_EVENT_ID = 'last-event-id';

export interface AnswerStreamsParts {
  readonly exchanges: Exchanges;
  readonly habits: ServerHabits;
  /** No answer to it can come any more. */
  readonly settle: (exchange: Exchange) => void;
  readonly suspected: () => void;
}

export class AnswerStreams {
  /** The SDK says when it will not resume a stream (v2). */
  sdkTellsEnd = false;
  readonly #parts: AnswerStreamsParts;
  readonly #listenStream = new ListenStream(() => this.#settleWaiting());
  /** Those whose resumption has ended or failed, in that order: the SDK will ask again. */
  readonly #toResume = new Set<Exchange>();
  #retired: Retirement | undefined;
  /** The server has opened its own stream before. */
  #hasListened = false;

  constructor(parts: AnswerStreamsParts) {
    this.#parts = parts;
  }

  retire(how: Retirement): void {
    if (this.#retired !== 'gone') this.#retired = how;
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
  answered({ stream }: Exchange): void {
    if (stream?.waiting) this.#parts.habits.answersOnListenStream = true;
  }

  /** A GET of the transport's: the server's own messages, or the rest of an answer stream that ended. */
  async get(asked: Asked, init: RequestInit, fetch: typeof globalThis.fetch): Promise<Response> {
    const lastEventId = headerOf(init, LAST_EVENT_ID);
    const exchange = lastEventId === null ? this.#takeForgotten(init) : this.#endedAt(lastEventId);
    if (exchange === undefined) return this.#listen(asked, fetch(asked, init));
    return this.#resume(exchange, asked, fetch(asked, init));
  }

  async #listen(asked: Asked, responding: Promise<Response>): Promise<Response> {
    const request = this.#listenStream.opening();
    try {
      const response = await responding;
      const { ok, status } = response;
      if (ok) {
        this.#hasListened = true;
        request.opened(response);
      }
      // The SDK follows, or signs in, and asks again.
      else if (!WANTS_CREDENTIALS.includes(status) && !isFollowedGet(asked, response)) {
        request.ended();
        // No stream here: many servers say 404.
        if (status !== 405 && (status !== 404 || this.#hasListened)) this.#parts.suspected();
      }
      return response;
    } catch (error) {
      request.ended();
      this.#parts.suspected();
      throw error;
    }
  }

  async #resume(exchange: Exchange, asked: Asked, responding: Promise<Response>): Promise<Response> {
    const stream = exchange.followed();
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
    const { resumes } = stream;
    const ended = (how: BodyEnd) => {
      stream.end = how;
      this.#toResume.add(exchange);
      setTimeout(() => {
        if (exchange.stream === stream && stream.resumes === resumes) this.#ended(exchange, stream);
      }, PARSER_GRACE_MS);
    };
    if (body === null) ended('ended');
    else whenPipedBodyEnds(body, ended);
  }

  #refused(exchange: Exchange, stream: AnswerStream, status: number): void {
    if (status === 401 || status === 403) stream.forgetEvent();
    // 405: the server has no such stream, and the SDK will not ask again.
    if (status === 405) this.#parts.settle(exchange);
    else this.#notResumed(exchange, stream);
  }

  #notResumed(exchange: Exchange, stream: AnswerStream): void {
    this.#suspected(exchange);
    if (stream.resumeFailed() && !this.sdkTellsEnd) this.#parts.settle(exchange);
    else this.#toResume.add(exchange);
  }

  #endedAt(lastEventId: string): Exchange | undefined {
    for (const exchange of this.#parts.exchanges) {
      if (exchange.answered || exchange.stream?.resuming) continue;
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
      if (exchange.answered || !stream?.isForgotten || !this.#parts.exchanges.has(exchange)) continue;
      if (putHeader(init, LAST_EVENT_ID, stream.lastEventId as string)) return exchange;
      this.#parts.settle(exchange);
    }
    return undefined;
  }

  #ended(exchange: Exchange, stream: AnswerStream): void {
    if (exchange.answered || stream.resuming) return;
    if (stream.lastEventId === undefined || stream.abandoned) {
      this.#endedForGood(exchange, stream);
    } else if (this.#givesUp(stream)) {
      this.#parts.settle(exchange);
    } else {
      stream.stalled = true;
      this.#suspected(exchange);
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

  #settleWaiting(): void {
    for (const exchange of this.#parts.exchanges) if (exchange.stream?.waiting) this.#parts.settle(exchange);
  }

  /** What the host gave up is no sign of trouble. */
  #suspected({ settled }: Exchange): void {
    if (!settled) this.#parts.suspected();
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
