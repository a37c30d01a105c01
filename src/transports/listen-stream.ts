/** The stream on which a Streamable HTTP server sends what belongs to no request, opened by the SDK with a GET. */
import { isDuration } from '../durations.ts';
import { PARSER_GRACE_MS, whenPipedBodyEnds } from './body-end.ts';
import { noSuchStream } from './http-wire.ts';
import { type Asked, isFollowedGet } from './redirects.ts';
import { StreamPace } from './stream-pace.ts';
import type { ServerHabits } from './wire-monitor.ts';

const LONGEST_PAUSE_MS = 30_000;

export interface ListenStreamParts {
  readonly habits: ServerHabits;
  readonly suspected: () => void;
  /** What the server last asked with `retry`, in milliseconds. */
  readonly retryMs: () => number;
  /** It is neither open nor being opened any more. */
  readonly ended: () => void;
}

interface ListenRequest {
  opened(response: Response): void;
  ended(): void;
}

export class ListenStream {
  readonly #parts: ListenStreamParts;
  readonly #pace = new StreamPace(LONGEST_PAUSE_MS);
  /** More than one only where a GET was taken for one of these. */
  readonly #open = new Set<ListenRequest>();
  /** Answered by what makes the SDK ask again. */
  #unanswered: ListenRequest | undefined;
  /** It has ended, and the SDK may be about to ask again. */
  #endings = 0;
  #retired = false;

  constructor(parts: ListenStreamParts) {
    this.#parts = parts;
  }

  /** Open, being opened, or just ended. */
  get isOpen(): boolean {
    return this.#open.size > 0 || this.#endings > 0;
  }

  /** Its session is gone: it is not opened again. */
  retire(): void {
    this.#retired = true;
    this.#pace.release();
  }

  async get(asked: Asked, init: RequestInit, fetch: typeof globalThis.fetch): Promise<Response> {
    const retryMs = this.#parts.retryMs();
    const request = this.#opening();
    if (this.#pace.hasEnded) {
      // Nothing comes on it in a time that a call could wait for.
      if (!isDuration(retryMs)) request.ended();
      await this.#pace.reopening(retryMs, init.signal).catch((error) => {
        request.ended();
        throw error;
      });
    }
    if (this.#retired) {
      request.ended();
      return noSuchStream();
    }
    return this.#answered(request, asked, fetch(asked, init));
  }

  async #answered(request: ListenRequest, asked: Asked, responding: Promise<Response>): Promise<Response> {
    const { habits, suspected } = this.#parts;
    try {
      const response = await responding;
      const { status, ok } = response;
      if (ok) request.opened(response);
      // The SDK follows, or signs in, and asks again.
      else if (status === 401 || status === 403) suspected();
      else if (!isFollowedGet(asked, response)) {
        this.#refused(request);
        // A server that has no such stream may say 404 in place of 405.
        if (status !== 405 && (status !== 404 || habits.offersListenStream)) suspected();
      }
      return response;
    } catch (error) {
      this.#refused(request);
      suspected();
      throw error;
    }
  }

  #refused(request: ListenRequest): void {
    this.#pace.refused();
    request.ended();
  }

  #opening(): ListenRequest {
    if (this.#unanswered !== undefined) this.#open.delete(this.#unanswered);
    const request: ListenRequest = {
      opened: ({ body }) => {
        if (this.#unanswered === request) this.#unanswered = undefined;
        this.#open.add(request);
        this.#parts.habits.offersListenStream = true;
        this.#pace.opened();
        const ended = () => {
          this.#pace.ended();
          request.ended();
        };
        if (body === null) ended();
        else whenPipedBodyEnds(body, ended, (event) => this.#pace.read(event));
      },
      ended: () => {
        if (!this.#open.delete(request) || this.#open.size > 0) return;
        this.#endings++;
        setTimeout(() => this.#check(), PARSER_GRACE_MS);
      },
    };
    this.#unanswered = request;
    this.#open.add(request);
    return request;
  }

  #check(): void {
    this.#endings--;
    if (!this.isOpen) this.#parts.ended();
  }
}
