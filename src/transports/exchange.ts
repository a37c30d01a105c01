/**
 * One call as seen on the wire.
 *
 * A request is tied to its call by what the SDK hands on from the call's options to `transport.send`: the
 * `onresumptiontoken` function (both versions), and for the later requests of one call in v2 (`input_required`)
 * only the `headers`. Both carry the call's exchange, which costs next to nothing, where AsyncLocalStorage would
 * slow every promise of the host's process.
 */
import type { HeldRequest } from '../authorization/held-request.ts';
import type { Reached } from '../evidence/failure.ts';
import { AnswerStream } from './answer-stream.ts';
import type { JsonRpcMessage, SendOptions } from './client-shape.ts';

/** A call: `startedAt` (from `Date.now()`) moves with progress where the caller asked for that. */
export interface TimedCall {
  readonly startedAt: number;
}

/** From revision 2026-07-28 on: the server asks the host for something before it goes on. */
const INPUT_REQUIRED = 'input_required';

export class Exchange {
  /** 1, 2, 3 …: in the order in which the calls of a connection were begun. */
  readonly number: number;
  /** Passed with every request of the call; see above. */
  readonly token: TokenListener;
  /** The SDK has settled the call. */
  settled = false;
  /** A request of this call reached the server, and its failure is not that request's. */
  earlierLegMayHaveRun = false;
  /** The server has asked the host for input, if only once: a person may have been asked. */
  askedForInput = false;
  /** It has asked, and the request that brings the input has not been handed over: nothing is on the wire. */
  awaitsInput = false;
  /** Settles the call while it awaits input, when the SDK has nothing to reject; undefined where it cannot await any. */
  onCut: (() => void) | undefined = undefined;
  /** It was settled so. */
  wasCut = false;

  // Of its last request:
  message: JsonRpcMessage | undefined = undefined;
  options: SendOptions | undefined = undefined;
  sessionId: string | undefined = undefined;
  reached: Reached = 'endpoint';
  /** While it waits for a sign-in. */
  held: HeldRequest | undefined = undefined;
  /** The answer was handed to the SDK. */
  answered = false;
  /** Undefined as long as there is nothing to know about it. */
  stream: AnswerStream | undefined = undefined;
  #body: string | undefined;
  readonly call: TimedCall | undefined;
  readonly #limitMs: number;
  #legStartedAt: number | undefined;

  /**
   * `read` is told of each event with an id, while the SDK is about to hand on the message in it. `limitMs`: for how
   * long the call may take.
   */
  constructor(
    number: number,
    forward?: (token: string) => void,
    read?: (exchange: Exchange) => void,
    call?: TimedCall,
    limitMs = 0,
  ) {
    this.number = number;
    this.call = call;
    this.#limitMs = limitMs;
    const token: TokenListener = (eventId) => {
      this.followed().heard(eventId);
      read?.(this);
      forward?.(eventId);
    };
    token.exchange = this;
    this.token = token;
  }

  /** Until the deadline of its last request: a person may take longer than the server. */
  get remainingMs(): number {
    if (this.call === undefined) return Number.POSITIVE_INFINITY;
    return (this.#legStartedAt ?? this.call.startedAt) + this.#limitMs - Date.now();
  }

  /** Its last request was not answered, and the response to it has not ended. */
  get isOpen(): boolean {
    return !this.answered && this.stream?.end === undefined;
  }

  get requestId(): string | number | undefined {
    return this.message?.id;
  }

  /**
   * The client handed a request of this call to the transport. The same message comes again when the server turned
   * it away (401, 403), so that one counts no further.
   */
  sends(message: JsonRpcMessage, options: SendOptions | undefined, sessionId: string | undefined): void {
    this.sessionId = sessionId;
    this.reached = 'endpoint';
    if (message === this.message) return;
    if (this.message !== undefined) this.#beginLeg();
    this.message = message;
    this.options = options;
  }

  /** A result came. What fails after it (a next request, the host's or the client's own code) is another matter. */
  answeredWith(result: unknown): void {
    this.earlierLegMayHaveRun = true;
    this.awaitsInput = Object(result).resultType === INPUT_REQUIRED;
    this.askedForInput ||= this.awaitsInput;
  }

  /** Nobody waits any longer for what the host answers. */
  cutWhileItAwaitsInput(): void {
    if (!this.awaitsInput || this.settled) return;
    this.wasCut = true;
    this.onCut?.();
  }

  /** Whether this is the body of its last request. Both SDKs send what `JSON.stringify` makes of a message. */
  wasSentAs(body: unknown): boolean {
    this.#body ??= JSON.stringify(this.message);
    return this.#body === body;
  }

  /** Its answer stream, of which there is something to know now. */
  followed(): AnswerStream {
    this.stream ??= new AnswerStream();
    return this.stream;
  }

  #beginLeg(): void {
    this.earlierLegMayHaveRun = true;
    this.answered = false;
    this.awaitsInput = false;
    this.#legStartedAt = Date.now();
    this.stream?.stopTimer();
    this.stream = undefined;
    this.#body = undefined;
  }
}

interface TokenListener {
  (eventId: string): void;
  exchange?: Exchange;
}

const EXCHANGE = Symbol('exchange');

/** Headers of a v2 request, to which it adds none. */
export function headersCarrying(exchange: Exchange, headers: object | undefined): Record<string, string> {
  return { ...headers, [EXCHANGE]: exchange } as Record<string, string>;
}

/** The exchange that a request belongs to, if it is one of a call's. */
export function exchangeOf(options: SendOptions | undefined): Exchange | undefined {
  const { onresumptiontoken, headers } = options ?? {};
  const first = (onresumptiontoken as TokenListener | undefined)?.exchange;
  return first ?? (headers as { [EXCHANGE]?: Exchange } | undefined)?.[EXCHANGE];
}
