import type { Cause } from '../machines/vocabulary.ts';
import type { OperationFailure } from './errors.ts';
import type { Generation } from './generation.ts';
import type { Exchange } from './transports/exchange.ts';
import type { ListenStreamLoss } from './transports/subscriptions.ts';

/**
 * What a connection's machine acts on. An owned line opens and ends generations; a lent one checks and gives
 * back what the caller supplied. The machine decides which of these is asked; a line only does it.
 */
export interface Line {
  /** Makes a generation and finishes its handshake. Rejects with an `OpenFailure`, with nothing left open. */
  open(generation: number, signal: AbortSignal): Promise<Generation>;
  /** The generation that was supplied, or nothing if it is not connected. */
  check(generation: number): Generation | undefined;
  /** Lets go of a generation that is not used for new calls any more. Returns at once. */
  retire(generation: Generation, cause: Cause): void;
  /**
   * Resolves when nothing is left of retired generations that the next one could clash with. Rejects with an
   * `OpenFailure` where that could not be reached.
   */
  retired(): Promise<void>;
  /** Resolves when nothing that was opened is left, or when it has been waited for long enough. */
  finish(): Promise<void>;
  /** The last dial, if it failed. */
  readonly lastDial: FailedDial | undefined;
}

export interface FailedDial {
  readonly error: unknown;
  readonly evidence: OperationFailure;
  readonly permanent: boolean;
  /** What the server asked to wait, in milliseconds. */
  readonly retryAfterMs: number;
  /** When it failed, from `Date.now()`. */
  readonly at: number;
  /** Where the server redirects to, without query. */
  readonly redirectTarget: string | undefined;
}

/** A later request of a call whose earlier one was answered. */
export interface FailedLeg {
  readonly exchange: Exchange;
  readonly error: unknown;
  /** Sends the very message once more, on the same client. */
  again(): Promise<void>;
}

/** What a line reports about its generations. */
export interface LineHooks {
  lost(generation: number, cause: Cause): void;
  suspected(generation: number, cause: Cause): void;
  /** The message that `reportNextMessage` asked for. */
  heard(generation: number): void;
  /** A stream for changes has ended. */
  listenStreamLost(generation: number, loss: ListenStreamLoss): void;
  /** A later request of a call failed. Settles as it does in the end. */
  legFailed(generation: Generation, leg: FailedLeg): Promise<void>;
}
