/**
 * One call as seen on the wire.
 *
 * A request is tied to its call by what the SDK hands on from the call's options to `transport.send`: the
 * `onresumptiontoken` function (both versions), and for the later requests of one call in v2 (`input_required`)
 * only the `headers`. Both carry the call's exchange, which costs next to nothing, where AsyncLocalStorage would
 * slow every promise of the host's process.
 */
import type { Reached } from '../evidence/failure.ts';
import type { SendOptions } from './client-shape.ts';

export class Exchange {
  /** 1, 2, 3 …: in the order in which the calls of a connection were begun. */
  readonly number: number;
  requestId: string | number | undefined = undefined;
  sessionId: string | undefined = undefined;
  /** An earlier request of this call reached the server. */
  earlierLegMayHaveRun = false;
  /** The answer to its last request was handed to the SDK. */
  answered = false;
  reached: Reached = 'endpoint';
  /** The SDK has settled the call. */
  settled = false;
  /** The answer stream ended, and the SDK is trying to resume it. */
  stalled = false;
  lastEventId: string | undefined = undefined;
  failedResumes = 0;

  /** Passed with every request of the call; see above. */
  readonly token: TokenListener;

  constructor(number: number, forward: ((token: string) => void) | undefined) {
    this.number = number;
    const token: TokenListener = (eventId) => {
      this.lastEventId = eventId;
      forward?.(eventId);
    };
    token.exchange = this;
    this.token = token;
  }

  /**
   * The client handed a request of this call to the transport. What the transport POSTs again by itself, it does
   * because the server turned the first away (401, 403), so that one counts no further.
   */
  beginLeg(requestId: string | number, sessionId: string | undefined): void {
    this.earlierLegMayHaveRun = this.requestId !== undefined;
    this.requestId = requestId;
    this.sessionId = sessionId;
    this.stalled = false;
    this.lastEventId = undefined;
    this.failedResumes = 0;
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
