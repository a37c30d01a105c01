/** What the present state of a connection says to its operations in trouble. Nothing: wait on. */
import type { ConnectionState } from '../machines/connection.machine.ts';
import type { OperationEvent } from '../machines/operation.machine.ts';

export interface Present {
  readonly state: ConnectionState;
  readonly generation: number;
  /** A probe of the current generation is under way, or no server is there to answer one. */
  readonly probing: boolean;
  /** Until when the server asked not to be dialled, from `Date.now()`; 0 if it did not. */
  readonly notDialledBefore: number;
  /** Somebody may be signing in. */
  readonly awaitsSignIn: boolean;
}

/** To one that waits for a usable generation, for so long at most. */
export function answerToWaiting(
  { state, probing, notDialledBefore, awaitsSignIn }: Present,
  leftMs: number,
): OperationEvent | undefined {
  switch (state) {
    case 'connecting':
    case 'recreating':
      return notDialledBefore - Date.now() > leftMs ? { type: 'unavailable', why: 'retry-after' } : undefined;
    case 'ready':
      return probing ? undefined : { type: 'usable' };
    case 'exhausted':
      return awaitsSignIn ? undefined : { type: 'unavailable', why: 'budget-spent' };
    case 'failed-ownership':
      return { type: 'refused' };
    case 'closing':
    case 'closed':
      return { type: 'unavailable', why: 'closed' };
    default:
      return undefined;
  }
}

/** Or may be so again: the generation has not been given up. */
export function isUsableStill(present: Present, generation: number): boolean {
  return present.state === 'ready' && present.generation === generation;
}

/** To one that failed on `generation`, in a way that only a probe can tell from a loss. */
export function answerToConfirming(present: Present, generation: number): OperationEvent | undefined {
  const { state, probing } = present;
  // Nobody probes a connection that is being closed: the failure stands as the SDK threw it.
  if (state === 'closing' || state === 'closed') return { type: 'usable' };
  if (!isUsableStill(present, generation)) return { type: 'lost' };
  return probing ? undefined : { type: 'usable' };
}
