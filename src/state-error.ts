/** Why a connection is not usable, as the error for those who waited for it without an operation. */
import type { Cause } from '../machines/vocabulary.ts';
import type { Outcome } from './connection-actor.ts';
import {
  CallerOwnedConnectionLostError,
  ConnectionClosedError,
  ConnectionUnavailableError,
  type ErrorFacts,
  type SupervisorError,
} from './errors.ts';
import type { FailedDial } from './line.ts';
import { whyOf } from './trouble-errors.ts';

export function stateError(
  outcome: Outcome,
  facts: Pick<ErrorFacts, 'connection' | 'ownership' | 'generation'>,
  cause: Cause | undefined,
  lastDial: FailedDial | undefined,
): SupervisorError {
  switch (outcome) {
    case 'exhausted':
    case 'server-missing':
      return new ConnectionUnavailableError({
        ...facts,
        evidence: lastDial?.evidence,
        cause: lastDial?.error,
        lastCause: lastDial?.evidence.cause ?? cause,
        dialFailed: lastDial !== undefined,
        redirectTarget: lastDial?.redirectTarget,
        retryAfterMs: lastDial?.retryAfterMs,
        why: whyOf(outcome === 'exhausted' ? 'budget-spent' : outcome, lastDial),
        sent: false,
      });
    case 'failed-ownership': {
      const evidence = { connection: 'lost', execution: 'none', cause: cause ?? 'not-connected' } as const;
      return new CallerOwnedConnectionLostError({ ...facts, evidence, sent: false });
    }
    default:
      return new ConnectionClosedError({ ...facts, sent: false });
  }
}
