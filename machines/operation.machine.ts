/**
 * One operation in trouble: it failed, or it arrived while its connection was not ready. A call that simply
 * succeeds never has one.
 *
 * Invariants
 *  1. An operation is sent (again), and asks for a connection, only where `mayBeSent` allows it, and it is sent at
 *     most `MAX_SENDS` times in all.
 *  2. An operation on a caller-owned connection is never sent again.
 *  3. A failure that is not a loss reaches the caller untouched.
 *  4. One deadline covers waiting and every send; while a send runs, the SDK's own timer keeps it. Pure: it has
 *     no timer of its own, and sends nothing itself.
 *  5. Every operation ends in exactly one final state.
 *
 * Legal transitions. What is not here is illegal: ignored, nothing sent, nothing changed. `own` is ownership
 * `supervisor`, `lent` the other two. Of rows that begin alike, the first whose condition holds. `judging` is left
 * at once: `a probe tells` is an answer that means a forgotten session on some servers and an ordinary error on
 * others; `stricken` has lost its answer, or was turned away, by a connection that may be gone; `a gateway's` failure
 * says nothing against the connection, and leaves open whether it ran. A `failed` send is judged in the same way.
 *
 *  from        whose  to               on [if]
 *  judging     any    awaiting         never sent [waits]
 *              any    unavailable      never sent [not-waiting]
 *              any    unavailable      never sent [queue-full]
 *              any    passed-through   failed: no loss
 *              lent   passed-through   failed: a gateway's
 *              own    awaiting         failed: a gateway's;
 *                                      failed: stricken;
 *                                      failed: lost [safe, unanswered, a send left]
 *              own    awaiting         failed: a gateway's;
 *                                      failed: stricken;
 *                                      failed: lost [if-unsent, not run, a send left]
 *              own    unavailable      failed: a gateway's; failed: stricken;
 *                                      failed: lost [never, not run]
 *              own    unavailable      failed: a gateway's; failed: stricken;
 *                                      failed: lost [not run]
 *              own    unknown-outcome  failed: a gateway's; failed: stricken; failed: lost
 *              any    confirming       failed: a probe tells
 *              lent   confirming       failed: stricken
 *              lent   refused          failed: lost
 *  confirming  any    passed-through   usable; deadline
 *              lent   refused          lost
 *              own    timed-out        lost [overdue, safe, unanswered, a send left]
 *              own    timed-out        lost [overdue, if-unsent, not run, a send left]
 *              own    awaiting         lost [safe, unanswered, a send left]
 *              own    awaiting         lost [if-unsent, not run, a send left]
 *              own    unavailable      lost [never, not run]
 *              own    unavailable      lost [not run]
 *              own    unknown-outcome  lost
 *              any    cancelled        abort
 *  awaiting    any    sending          usable
 *              any    unavailable      unavailable, budget spent; unavailable, server missing;
 *                                      unavailable, retry after; unavailable, closed
 *              any    refused          refused
 *              any    timed-out        deadline
 *              any    cancelled        abort
 *  sending     any    answered         answered
 *              any    passed-through   failed: no loss
 *              lent   passed-through   failed: a gateway's
 *              own    timed-out        failed: a gateway's;
 *                                      failed: stricken;
 *                                      failed: lost [overdue, safe, unanswered, a send left]
 *              own    timed-out        failed: a gateway's;
 *                                      failed: stricken;
 *                                      failed: lost [overdue, if-unsent, not run, a send left]
 *              own    awaiting         failed: a gateway's;
 *                                      failed: stricken;
 *                                      failed: lost [safe, unanswered, a send left]
 *              own    awaiting         failed: a gateway's;
 *                                      failed: stricken;
 *                                      failed: lost [if-unsent, not run, a send left]
 *              own    unavailable      failed: a gateway's; failed: stricken;
 *                                      failed: lost [never, not run]
 *              own    unavailable      failed: a gateway's; failed: stricken;
 *                                      failed: lost [not run]
 *              own    unknown-outcome  failed: a gateway's; failed: stricken; failed: lost
 *              any    confirming       failed: a probe tells
 *              lent   confirming       failed: stricken
 *              lent   refused          failed: lost
 *              any    sending          deadline
 *              any    cancelled        abort
 */
import { and, assign, setup } from 'xstate';
import {
  type Cause,
  type DemandedOperation,
  type Evidence,
  isStricken,
  mayBeSent,
  type OperationFacts,
  type Ownership,
} from './vocabulary.ts';

/** The first send and one more: a second loss in a row reaches the caller instead of looping. */
export const MAX_SENDS = 2;

/** Answers that mean a forgotten session on some servers and an ordinary error on others. */
const MAY_BE_NO_LOSS: readonly Cause[] = ['session-rejected', 'session-error', 'http-refused'];

/** Why an operation was given up before it could be sent. */
export type Unavailability =
  | 'not-waiting'
  | 'queue-full'
  | 'budget-spent'
  | 'server-missing'
  | 'retry-after'
  | 'sends-spent'
  | 'policy'
  | 'closed';

export interface OperationInput extends OperationFacts {
  readonly ownership: Ownership;
  /** What its failure proves; null for one that has not been sent. */
  readonly evidence: Evidence | null;
  /** How often it has been sent. */
  readonly sends: number;
  /** May it wait for a connection that is not ready? Otherwise, why not. */
  readonly admission: 'waits' | 'not-waiting' | 'queue-full';
}

export interface OperationContext extends OperationInput {
  readonly overdue: boolean;
  readonly unavailability: Unavailability | null;
}

export type OperationEvent =
  /** The connection is ready; for a confirming operation: the probe was answered. */
  | { type: 'usable' }
  /** The probe failed, or its generation is gone. */
  | { type: 'lost' }
  | { type: 'unavailable'; why: 'budget-spent' | 'server-missing' | 'retry-after' | 'closed' }
  /** The connection belongs to the caller and was lost. */
  | { type: 'refused' }
  /** The send that was under way was answered, or failed. */
  | { type: 'answered' }
  | { type: 'failed'; evidence: Evidence }
  /** The time that the caller allowed for all of it has passed. */
  | { type: 'deadline' }
  /** The caller's own signal. */
  | { type: 'abort' };

/** An operation as it asks for a connection. */
function demandOf({ kind, policy, evidence }: OperationContext): DemandedOperation {
  return { kind, policy, execution: evidence === null ? 'unsent' : evidence.execution };
}

function missing(action: string): never {
  throw new Error(`operation.machine: the action "${action}" must be provided`);
}

export const operationMachine = setup({
  types: {
    context: {} as OperationContext,
    input: {} as OperationInput,
    events: {} as OperationEvent,
  },
  guards: {
    isNoLoss: ({ context }) => context.evidence !== null && !isStricken(context.evidence, context.ownership),
    needsProof: ({ context }) =>
      context.evidence?.connection === 'suspect' &&
      (context.ownership !== 'supervisor' || MAY_BE_NO_LOSS.includes(context.evidence.cause)),
    ownedByCallerAndLost: ({ context }) => context.ownership !== 'supervisor' && context.evidence !== null,
    isAdmitted: ({ context }) => context.evidence !== null || context.admission === 'waits',
    mayBeSent: ({ context }) => context.sends < MAX_SENDS && mayBeSent(demandOf(context)),
    didNotRun: ({ context }) => context.evidence === null || context.evidence.execution === 'none',
    isOverdue: ({ context }) => context.overdue,
  },
  actions: {
    /** Tells the connection that it is wanted, and waits for its answer. */
    demandConnection: (_, _operation: DemandedOperation) => missing('demandConnection'),
    /** Waits for the outcome of the connection's probe. */
    awaitProof: () => missing('awaitProof'),
    /** Sends it on the current generation: `answered` or `failed` follows. */
    send: () => missing('send'),
    countSend: assign(({ context }) => ({ sends: context.sends + 1 })),
    /** A later send that did not run does not undo an earlier one that may have. */
    rememberEvidence: assign(({ context }, evidence: Evidence) => ({
      evidence:
        context.evidence?.execution === 'unknown' && evidence.execution === 'none'
          ? { ...evidence, execution: 'unknown' as const }
          : evidence,
    })),
    takeAsLost: assign(({ context }) => ({
      evidence: context.evidence && { ...context.evidence, connection: 'lost' as const },
    })),
    noteOverdue: assign({ overdue: true }),
    explainGivingUp: assign(({ context }): Pick<OperationContext, 'unavailability'> => {
      if (context.unavailability !== null) return context;
      if (context.evidence === null) {
        return { unavailability: context.admission === 'queue-full' ? 'queue-full' : 'not-waiting' };
      }
      return { unavailability: context.policy === 'never' ? 'policy' : 'sends-spent' };
    }),
    rememberUnavailability: assign((_, params: { why: Unavailability }) => ({ unavailability: params.why })),
  },
}).createMachine({
  id: 'operation',
  context: ({ input }) => ({ ...input, overdue: false, unavailability: null }),
  initial: 'judging',
  on: {
    deadline: { target: '.timed-out' },
    abort: { target: '.cancelled' },
  },
  states: {
    /** The one decision for every kind of operation. */
    judging: {
      always: [
        { guard: 'isNoLoss', target: 'passed-through' },
        { guard: 'needsProof', target: 'confirming' },
        { guard: 'ownedByCallerAndLost', target: 'refused' },
        { guard: and(['isAdmitted', 'mayBeSent', 'isOverdue']), target: 'timed-out' },
        { guard: and(['isAdmitted', 'mayBeSent']), target: 'awaiting' },
        { guard: 'didNotRun', target: 'unavailable' },
        { target: 'unknown-outcome' },
      ],
    },

    /** The failure is a loss only if the connection's probe fails too. */
    confirming: {
      entry: 'awaitProof',
      on: {
        usable: { target: 'passed-through' },
        // Nothing has been proved against the connection: the failure stands as it is.
        deadline: { target: 'passed-through' },
        lost: { target: 'judging', actions: 'takeAsLost' },
      },
    },

    /** Waits for a usable generation. */
    awaiting: {
      entry: { type: 'demandConnection', params: ({ context }) => demandOf(context) },
      on: {
        usable: { target: 'sending' },
        unavailable: {
          target: 'unavailable',
          actions: { type: 'rememberUnavailability', params: ({ event }) => ({ why: event.why }) },
        },
        refused: { target: 'refused' },
      },
    },

    sending: {
      entry: ['countSend', 'send'],
      on: {
        answered: { target: 'answered' },
        failed: {
          target: 'judging',
          actions: { type: 'rememberEvidence', params: ({ event }) => event.evidence },
        },
        // The SDK's own timer keeps the deadline of a request.
        deadline: { actions: 'noteOverdue' },
      },
    },

    answered: { type: 'final' },
    /** The failure was no loss: the caller gets it untouched. */
    'passed-through': { type: 'final' },
    /** The connection is the caller's: only the caller can replace it. */
    refused: { type: 'final' },
    /** The server may have run it, and it was not sent again. */
    'unknown-outcome': { type: 'final' },
    /** It did not run, and no connection could be had for it. */
    unavailable: { type: 'final', entry: 'explainGivingUp' },
    cancelled: { type: 'final' },
    'timed-out': { type: 'final' },
  },
});
