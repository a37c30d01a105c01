/** How soon a stream that has ended may be opened again: some servers end it at once, each time. */
import { backgroundClock } from '../clock.ts';
import { isDuration, MAX_DURATION_MS } from '../durations.ts';
import type { StreamEvent } from './body-end.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_INTERVAL_MS = 30_000;
/** A stream that lived for so long did not end at once. */
const LIVED_MS = 1_000;

function grown(pauseMs: number, longestMs: number): number {
  return Math.min(Math.max(FIRST_PAUSE_MS, 2 * pauseMs), longestMs);
}

/** One stream and its reopenings. A pause grows with each that brings nothing, and any message resets it. */
export class StreamPace {
  readonly #longestMs: number;
  #pauseMs = 0;
  #openedAt = 0;
  #endedAt: number | undefined;
  #broughtMessage = false;
  #broughtNewId = false;
  #lastEventId: string | undefined;
  #endsWithoutMessage = 0;
  #release = () => {};

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** It has ended, or was refused, and was not asked for since. */
  get hasEnded(): boolean {
    return this.#endedAt !== undefined;
  }

  opened(): void {
    this.#openedAt = performance.now();
  }

  ended(): void {
    this.#endedAt = performance.now();
  }

  refused(): void {
    this.opened();
    this.ended();
  }

  read({ id, data }: StreamEvent): void {
    // Looked for, not parsed: the SDK parses it.
    if (data.includes('"jsonrpc"')) this.#broughtMessage = true;
    if (!id || id === this.#lastEventId) return;
    this.#lastEventId = id;
    this.#broughtNewId = true;
  }

  /**
   * Resolves when it may be opened again, or with `release()`; rejects with the signal's reason. `retryMs`: what the
   * server asked for, which the SDK has waited for, unless no timer is that long.
   */
  async reopening(retryMs: number, signal: AbortSignal | null | undefined): Promise<void> {
    const endedAt = this.#endedAt ?? performance.now();
    this.#pauseMs = this.#endedAt === undefined ? 0 : this.#nextPause(this.#endedAt);
    this.#endedAt = undefined;
    this.#broughtMessage = false;
    this.#broughtNewId = false;
    const waitMs = isDuration(retryMs) ? endedAt + this.#pauseMs - performance.now() : MAX_DURATION_MS;
    if (waitMs > 0 && !signal?.aborted) await this.#wait(waitMs, signal);
    signal?.throwIfAborted();
  }

  /** Ends the wait. */
  release(): void {
    this.#release();
  }

  #nextPause(endedAt: number): number {
    if (this.#broughtMessage || endedAt - this.#openedAt >= LIVED_MS) {
      this.#endsWithoutMessage = 0;
      return 0;
    }
    this.#endsWithoutMessage++;
    if (!this.#broughtNewId) return grown(this.#pauseMs, this.#longestMs);
    // Once is how a server lets its client poll.
    return this.#endsWithoutMessage === 1 ? 0 : FIRST_PAUSE_MS;
  }

  #wait(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        backgroundClock.clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        this.#release = () => {};
        resolve();
      };
      const timer = backgroundClock.setTimeout(end, ms);
      signal?.addEventListener('abort', end, { once: true });
      this.#release = end;
    });
  }
}

/** How often ended streams may be worth a probe: less and less often, until none has ended for a while. */
export class ProbePace {
  #intervalMs = 0;
  #raisedAt = Number.NEGATIVE_INFINITY;

  /** Whether it is time for one; if so, the next interval begins. */
  due(): boolean {
    const now = performance.now();
    const sinceMs = now - this.#raisedAt;
    if (sinceMs < this.#intervalMs) return false;
    this.#intervalMs =
      sinceMs > LONGEST_INTERVAL_MS ? FIRST_PAUSE_MS : grown(this.#intervalMs, LONGEST_INTERVAL_MS);
    this.#raisedAt = now;
    return true;
  }
}
