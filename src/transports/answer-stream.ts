/** What is known of the answer stream of one request, from its POST through every resume. */
import type { BodyEnd } from './body-end.ts';
import { StreamPace } from './stream-pace.ts';

/** How often the SDK tries to resume an answer stream (`reconnectionOptions.maxRetries`, both versions). */
const RESUME_TRIES = 2;

/** As long as the SDK itself waits where the server has not said `retry`. */
const LONGEST_PAUSE_MS = 1_000;

export class AnswerStream {
  lastEventId: string | undefined = undefined;
  /** How it ended, if it did and was not resumed since. */
  end: BodyEnd | undefined = undefined;
  /** It ended, and the SDK is going to resume it. */
  stalled = false;
  /** A request that shall resume it is under way. */
  resuming = false;
  /** The SDK does not resume it. */
  abandoned = false;
  /** It brought what the SDK takes for its end. */
  hasAnswer = false;
  /** It ended, and the answer is expected on the server's own stream. */
  waiting = false;
  resumes = 0;
  #sdkKnowsEvent = false;
  #failedResumes = 0;
  #waitTimer: ReturnType<typeof setTimeout> | undefined;
  #pace: StreamPace | undefined;

  /** Of its resumes. */
  get pace(): StreamPace {
    this.#pace ??= new StreamPace(LONGEST_PAUSE_MS);
    return this.#pace;
  }

  heard(eventId: string): void {
    this.lastEventId = eventId;
    this.#sdkKnowsEvent = true;
  }

  /** The SDK forgets the id when a resumed stream ends without a new event, and when it has to sign in (v1). */
  forgetEvent(): void {
    this.#sdkKnowsEvent = false;
  }

  /** The SDK's next request for the rest of it will not say from where. */
  get isForgotten(): boolean {
    return this.lastEventId !== undefined && !this.#sdkKnowsEvent;
  }

  resumed(): void {
    this.resumes++;
    this.end = undefined;
    this.stalled = false;
    this.resuming = false;
    this.#failedResumes = 0;
    this.forgetEvent();
  }

  /** Whether that was the last time that the SDK tried. */
  resumeFailed(): boolean {
    this.resuming = false;
    return ++this.#failedResumes >= RESUME_TRIES;
  }

  /** `limitMs`: for how long; undefined: as long as the call itself. */
  wait(limitMs: number | undefined, passed: () => void): void {
    this.waiting = true;
    if (limitMs !== undefined) this.#waitTimer = setTimeout(passed, limitMs);
  }

  /** Nobody waits for it any more. */
  stopTimer(): void {
    clearTimeout(this.#waitTimer);
  }
}
