/** What the allow-list lets through, with its types: the list has checked each value. */
import type { Unavailability } from '../../../machines/operation.machine.ts';
import type {
  Cause,
  Execution,
  OperationKind,
  Ownership,
  ReplayPolicy,
} from '../../../machines/vocabulary.ts';
import type { Allowed } from '../redaction.ts';

export interface Facts {
  readonly ownership?: Ownership;
  readonly generation?: number;
  readonly attempts?: number;
  readonly sends?: number;
  readonly cause?: Cause;
  readonly kind?: OperationKind;
  readonly policy?: ReplayPolicy;
  readonly execution?: Execution;
  readonly unavailability?: Unavailability;
  readonly evidence?: Facts;
  readonly output?: Facts;
  readonly error?: Facts;
}

export function factsOf(allowed: Allowed): Facts {
  return allowed;
}
