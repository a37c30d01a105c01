/** The error that a call in trouble ends with, by the final state of its machine. */
import type { OperationContext } from '../machines/operation.machine.ts';
import type { Cause, Ownership } from '../machines/vocabulary.ts';
import type { Call } from './call.ts';
import {
  CallerOwnedConnectionLostError,
  ConnectionClosedError,
  ConnectionUnavailableError,
  type OperationFailure,
  OutcomeUnknownError,
  type UnavailableWhy,
} from './errors.ts';
import type { FailedDial } from './line.ts';

export interface Ending {
  readonly connection: string;
  readonly ownership: Ownership;
  readonly generation: number;
  readonly call: Call;
  /** It has been sent at least once. */
  readonly sent: boolean;
  /** What the SDK threw, if it was sent. */
  readonly error: unknown;
  readonly evidence: OperationFailure | undefined;
  readonly lastDial: FailedDial | undefined;
  /** Somebody has to sign in first: what the SDK says of it. */
  readonly signInError: unknown;
  /** Why it waited. */
  readonly delayedBy: Cause | undefined;
}

export function endingError(
  state: string,
  unavailability: OperationContext['unavailability'],
  ending: Ending,
): unknown {
  const { connection, ownership, generation, call, sent, error, evidence } = ending;
  const waitedInVain = state === 'timed-out' || (state === 'unavailable' && unavailability !== 'closed');
  if (waitedInVain && evidence?.execution !== 'unknown' && ending.signInError !== undefined) {
    return ending.signInError;
  }
  const operation = { method: call.spec.method, kind: call.spec.kind };
  const facts = { connection, ownership, generation, operation, sent };
  switch (state) {
    case 'passed-through':
      return error;
    case 'refused':
      return new CallerOwnedConnectionLostError({ ...facts, evidence, cause: error });
    case 'unknown-outcome':
      return new OutcomeUnknownError({ ...facts, evidence, cause: error });
    case 'timed-out':
      return new ConnectionUnavailableError({ ...facts, ...whyUnavailable(ending), why: 'deadline' });
    default:
      if (unavailability === 'closed') return new ConnectionClosedError({ ...facts, evidence, cause: error });
      return new ConnectionUnavailableError({
        ...facts,
        ...whyUnavailable(ending),
        why: whyOf(unavailability, ending.lastDial),
      });
  }
}

/** The machine knows that the budget is spent; the last dial knows on what. */
export function whyOf(
  unavailability: Exclude<OperationContext['unavailability'], 'closed'>,
  lastDial: FailedDial | undefined,
): UnavailableWhy {
  if (unavailability !== null && unavailability !== 'budget-spent') return unavailability;
  if (lastDial?.permanent) return 'permanent';
  return lastDial !== undefined && lastDial.retryAfterMs > 0 ? 'retry-after' : 'budget-spent';
}

/** The connection's last dial says why there is none, and the operation's own failure whether it may have run. */
function whyUnavailable({ error, evidence, lastDial, delayedBy }: Ending) {
  if (lastDial === undefined) {
    return { evidence, cause: error, lastCause: evidence?.cause ?? delayedBy, dialFailed: false };
  }
  const execution = evidence?.execution ?? 'none';
  const both = 'The operation failed, and then no connection could be made';
  return {
    evidence: { ...lastDial.evidence, execution },
    cause: error === undefined ? lastDial.error : new AggregateError([error, lastDial.error], both),
    lastCause: lastDial.evidence.cause,
    dialFailed: true,
    redirectTarget: lastDial.redirectTarget,
    retryAfterMs: lastDial.retryAfterMs,
  };
}
