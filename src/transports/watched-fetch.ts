/** The `fetch` that the wire monitor gives to HTTP transports: sees each exchange, and changes none. */
import type { AnswerStreams } from './answer-streams.ts';
import {
  type BodyEnd,
  PARSER_GRACE_MS,
  whenJsonIsRead,
  whenPipedBodyEnds,
  whenReadBodyEnds,
} from './body-end.ts';
import type { Exchanges } from './exchanges.ts';
import { headerOf, retryAfterMsOf } from './http-wire.ts';
import { type Asked, redirectTarget, shownTarget, whereItEnded } from './redirects.ts';

/** The SDK may sign in and send the same again. */
const MAY_BE_SENT_AGAIN: readonly number[] = [401, 403];

export class WatchedFetch {
  retryAfterMs = 0;
  sessionEnded = false;
  /** A transport has used it. */
  isUsed = false;
  /** Of the last answer to a POST; 0 without one. */
  lastStatus = 0;
  /** A request of a transport's was accepted. */
  hasBeenAnswered = false;
  /** On legacy SSE every POST is answered with 202, and the answer comes on the one stream. */
  answersComeWithPosts = false;
  readonly #exchanges: Exchanges;
  readonly #streams: AnswerStreams;
  readonly #legacyStreamEnded: () => void;
  /** On legacy SSE the server has begun a session. */
  legacyStreamBegan = false;
  #legacyStreamHasEnded = false;
  /** Why the stream of legacy SSE could not be had: the SDK keeps the words of it, and neither code nor cause. */
  legacyStreamError: unknown;
  #unfollowed: URL | undefined;

  constructor(exchanges: Exchanges, streams: AnswerStreams, legacyStreamEnded: () => void) {
    this.#exchanges = exchanges;
    this.#streams = streams;
    this.#legacyStreamEnded = legacyStreamEnded;
  }

  get redirectTarget(): string | undefined {
    return this.#unfollowed && shownTarget(this.#unfollowed);
  }

  over(base: typeof fetch, kind: 'http' | 'sse'): typeof fetch {
    return (asked, init) => {
      if (this.#unfollowed !== undefined && String(asked) === this.#unfollowed.href)
        this.#unfollowed = undefined;
      if (init === undefined) return base(asked);
      // MCP messages are strings; what is not may be a sign-in.
      if (init.method === 'POST' && typeof init.body === 'string')
        return this.#post(asked, init, base(asked, init));
      if (init.method === 'DELETE') return this.#delete(asked, base(asked, init));
      if (!asksForEvents(init)) return base(asked, init);
      if (kind === 'sse') {
        // EventSource would open another stream, onto a session that was never initialised, until it is closed.
        if (this.#legacyStreamHasEnded) return whenAborted(init.signal);
        return this.#legacyStream(asked, base(asked, init));
      }
      return this.#streams.get(asked, init, async (...request) => {
        const response = await base(...request);
        this.hasBeenAnswered ||= response.ok;
        this.#noteRedirect(asked, response);
        return response;
      });
    };
  }

  /** Returns the very promise of `fetch`: the SDK waits for nothing that it would not wait for without us. */
  #post(asked: Asked, init: RequestInit, responding: Promise<Response>): Promise<Response> {
    this.isUsed = true;
    responding
      .then(
        (response) => this.#responded(asked, init, response),
        () => this.#failed(init),
      )
      .catch(() => {});
    return responding;
  }

  #responded(asked: Asked, init: RequestInit, response: Response): void {
    const { status, ok, body } = response;
    this.lastStatus = status;
    this.hasBeenAnswered ||= ok;
    this.#noteRedirect(asked, response);
    if (response.redirected) this.#noteReached(asked, init, response);
    this.#noteRetryAfter(response);
    if (!this.answersComeWithPosts) return;
    if (!ok) {
      if (status >= 400 && !MAY_BE_SENT_AGAIN.includes(status)) this.#failed(init);
    } else if (status === 202 || body === null) {
      const exchange = this.#exchanges.isEmpty ? undefined : this.#exchanges.ofBody(init.body);
      if (exchange !== undefined) this.#streams.accepted(exchange);
    } else {
      const ended = (how: BodyEnd) => this.#bodyEnded(init, how);
      if (isEventStream(response)) whenPipedBodyEnds(body, ended);
      else whenJsonIsRead(response, ended);
    }
  }

  /** Looked at only later: by then most calls have their answer, and nothing has to be compared. */
  #bodyEnded({ body }: RequestInit, how: BodyEnd): void {
    const { isEmpty, newest } = this.#exchanges;
    if (isEmpty) return;
    setTimeout(() => {
      const exchange = this.#exchanges.ofBody(body, newest);
      if (exchange !== undefined) this.#streams.postEnded(exchange, how);
    }, PARSER_GRACE_MS);
  }

  /** Of a call that waits, the SDK tells the same. */
  #failed({ body }: RequestInit): void {
    if (this.#exchanges.outstanding === 0) return;
    const exchange = this.#exchanges.ofBody(body);
    if (exchange?.settled) this.#exchanges.remove(exchange);
  }

  #delete(asked: Asked, responding: Promise<Response>): Promise<Response> {
    responding.then(
      (response) => {
        this.#noteRedirect(asked, response);
        const { ok, status, redirected } = response;
        // A redirect that was followed unseen may have ended anything, or nothing.
        if (!redirected && (ok || status === 404 || status === 410)) this.sessionEnded = true;
      },
      () => {},
    );
    return responding;
  }

  async #legacyStream(asked: Asked, responding: Promise<Response>): Promise<Response> {
    const response = await responding.catch((error: unknown) => {
      this.legacyStreamError = error;
      throw error;
    });
    this.#noteRedirect(asked, response);
    this.#noteRetryAfter(response);
    if (response.ok && response.body) {
      this.hasBeenAnswered = true;
      this.legacyStreamBegan = true;
      whenReadBodyEnds(response.body, () => {
        this.#legacyStreamHasEnded = true;
        this.#legacyStreamEnded();
      });
    }
    return response;
  }

  #noteRedirect(asked: Asked, response: Response): void {
    const target = redirectTarget(asked, response);
    if (target !== undefined) this.#unfollowed = target;
  }

  #noteRetryAfter(response: Response): void {
    const { status } = response;
    if (status === 429 || status === 503) this.retryAfterMs = retryAfterMsOf(response);
  }

  #noteReached(asked: Asked, { body }: RequestInit, response: Response): void {
    const exchange = this.#exchanges.ofBody(body) ?? this.#exchanges.otherOfBody(body);
    if (exchange !== undefined) exchange.reached = whereItEnded(asked, response);
  }
}

function whenAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.trimStart().toLowerCase().startsWith('text/event-stream') === true;
}

/** Not so a GET for metadata of a sign-in, which takes the same `fetch`. */
function asksForEvents(init: RequestInit): boolean {
  if (init.method !== undefined && init.method !== 'GET') return false;
  return headerOf(init, 'accept')?.includes('text/event-stream') === true;
}
