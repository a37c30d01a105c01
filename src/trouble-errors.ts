/** The error that a call in trouble ends with, by the final state of its machine. */
import type { OperationContext } from '../machines/operation.machine.ts';
import type { Ownership } from '../machines/vocabulary.ts';
import type { Call } from './call.ts';
import {
  CallerOwnedConnectionLostError,
  ConnectionClosedError,
  ConnectionUnavailableError,
  type OperationFailure,
  OutcomeUnknownError,
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
}

export function endingError(
  state: string,
  unavailability: OperationContext['unavailability'],
  ending: Ending,
): unknown {
  const { connection, ownership, generation, call, sent, lastDial } = ending;
  const facts = {
    connection,
    ownership,
    generation,
    operation: { method: call.spec.method, kind: call.spec.kind },
    evidence: ending.evidence ?? lastDial?.evidence,
    cause: ending.error ?? lastDial?.error,
    lastCause: (lastDial?.evidence ?? ending.evidence)?.cause,
    sent,
  };
  switch (state) {
    case 'passed-through':
      return ending.error;
    case 'cancelled':
      return call.options?.signal?.reason;
    case 'refused':
      return new CallerOwnedConnectionLostError(facts);
    case 'unknown-outcome':
      return new OutcomeUnknownError(facts);
    case 'timed-out':
      return new ConnectionUnavailableError({ ...facts, why: 'time-spent' });
    default:
      if (unavailability === 'closed') return new ConnectionClosedError(facts);
      return new ConnectionUnavailableError({ ...facts, why: unavailability ?? 'budget-spent' });
  }
}
