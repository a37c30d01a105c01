/** Makes of the end of an operation in trouble what src/ makes of it. */
import type { OperationContext } from '../../machines/operation.machine.ts';
import { OPERATIONS } from '../../src/operations.ts';
import { endingError } from '../../src/trouble-errors.ts';

export const ANSWER = { content: [] };
export const SDK_ERROR = new Error('as the SDK threw it');
/** What src/abort-error.ts makes of it, the raw SDK's error, has tests of its own. */
export const ABORTED = new Error('as the raw SDK tells of an abort');

/** `sends`: how often it was sent, counted from outside. */
export function whatCallerGets(
  state: string,
  { ownership, evidence, unavailability }: OperationContext,
  sends: number,
): unknown {
  if (state === 'answered') return ANSWER;
  if (state === 'cancelled') return ABORTED;
  return endingError(state, unavailability, {
    connection: 'files',
    ownership,
    generation: 1,
    call: {
      spec: OPERATIONS.callTool,
      params: {},
      ask: async () => ANSWER,
      schema: undefined,
      options: undefined,
      timeoutMs: 60_000,
      startedAt: 0,
      observer: undefined,
    },
    sent: sends > 0,
    error: SDK_ERROR,
    evidence: evidence ?? undefined,
    lastDial: undefined,
    signInError: undefined,
    delayedBy: undefined,
  });
}
