/**
 * One supervised connection to one MCP server.
 *
 * Invariants
 *  1. Nothing of a caller-owned connection is opened, closed or replaced: `open` is invoked only in states that
 *     no transition of a caller-owned connection enters.
 *  2. `lost` is the one decision point. Caller-owned leaves it for `failed-ownership`, always.
 *  3. A report about a generation that is not the current one changes nothing.
 *  4. At most one `open` runs at a time; leaving its state aborts it.
 *  5. Attempts are counted when a dial starts and given back only after `stable`, never on entering `ready`:
 *     otherwise a flapping server would be dialled for ever. A trial after the cool-down is one attempt. Only
 *     the host's own `reconnect` gives them back too.
 *  6. The generation grows only when a handshake (or, for a caller-owned connection, a check) has finished.
 *  7. A suspicion starts at most one probe, does not leave `ready`, and is ignored while the only thing that
 *     silence could mean is that the server is busy.
 *  8. After `close` nothing is opened. `closed` is final.
 *
 * Legal transitions. What is not here is illegal: ignored, nothing sent, nothing changed. `own` is ownership
 * `supervisor`, `lent` the other two. Every loss goes through `lost`, where it is decided at once: `wanted` is a
 * connection that is eager, that an operation waits for, or whose stricken operation may be sent again; `no wait`
 * means that no dial was made since attempts were given back, and that the server did not ask to wait.
 *
 *  from                   whose  to                     on [if]
 *  idle                   own    connecting.opening     demand; reconnect
 *  connecting.opening     own    ready.steady           opened
 *                         own    recreating.backingOff  open failed [budget left]
 *                         own    exhausted.cooling      open failed [budget spent]
 *                         own    exhausted.cooling      open failed for good
 *  connecting.checking    lent   ready.steady           verified
 *                         lent   failed-ownership       unverified
 *  ready.steady           any    ready.probing          suspected, and worth a probe
 *                         any    ready.steady           after stable [once]
 *  ready.probing          any    ready.probing          demand
 *                         any    ready.probing          after stable [once]
 *                         any    ready.steady           probe answered; probe could not be sent
 *                         any    ready.steady           probe unanswered [tolerated]
 *                         own    lost                   probe unanswered [not tolerated, unwanted]
 *                         own    recreating.opening     probe unanswered [not tolerated, wanted, no wait]
 *                         own    recreating.backingOff  probe unanswered [not tolerated, wanted, budget left]
 *                         own    exhausted.cooling      probe unanswered [not tolerated, wanted, budget spent]
 *                         lent   failed-ownership       probe unanswered [not tolerated]
 *                         own    lost                   probe lost [unwanted]
 *                         own    recreating.opening     probe lost [wanted, no wait]
 *                         own    recreating.backingOff  probe lost [wanted, budget left]
 *                         own    exhausted.cooling      probe lost [wanted, budget spent]
 *                         lent   failed-ownership       probe lost
 *  ready                  own    lost                   lost (current generation) [unwanted]
 *                         own    recreating.opening     lost (current generation) [wanted, no wait]
 *                         own    recreating.backingOff  lost (current generation) [wanted, budget left]
 *                         own    exhausted.cooling      lost (current generation) [wanted, budget spent]
 *                         lent   failed-ownership       lost (current generation)
 *                         own    recreating.opening     reconnect
 *                         lent   connecting.checking    replaced
 *                         any    closing                close
 *  lost                   own    recreating.opening     demand [no wait]
 *                         own    recreating.backingOff  demand [budget left]
 *                         own    exhausted.cooling      demand [budget spent]
 *                         own    recreating.opening     reconnect
 *  recreating.backingOff  own    recreating.opening     after backoff; reconnect
 *                         own    exhausted.cooling      after window
 *  recreating.opening     own    ready.steady           opened
 *                         own    recreating.backingOff  open failed [budget left]
 *                         own    exhausted.cooling      open failed [budget spent]
 *                         own    exhausted.cooling      open failed for good; after window
 *  failed-ownership       lent   connecting.checking    replaced
 *  exhausted.cooling      own    exhausted.cooled       after coolDown
 *                         own    recreating.opening     reconnect
 *  exhausted.cooled       own    recreating.opening     demand; reconnect
 *  (open)                 any    closing                close
 *  closing                any    closed                 shut down
 */
import { and, assign, emit, fromCallback, fromPromise, setup } from 'xstate';
import { type Cause, maySendAgain, type OperationFacts, type Ownership } from './vocabulary.ts';

export type ConnectionState =
  | 'idle'
  | 'connecting'
  | 'ready'
  | 'lost'
  | 'recreating'
  | 'failed-ownership'
  | 'exhausted'
  | 'closing'
  | 'closed';

/** How hard an owned connection is tried for. All durations in milliseconds. */
export interface RecoveryBudget {
  /** `eager` recreates on every loss; `on-demand` when an operation wants it. */
  readonly recreate: 'eager' | 'on-demand';
  /** Dials until a connection has been stable. */
  readonly maxAttempts: number;
  /** The longest that one stay in `recreating` may last. */
  readonly windowMs: number;
  /** How long a connection must stay ready before its attempts are given back. */
  readonly stableMs: number;
  /** How long `exhausted` refuses demands. */
  readonly coolDownMs: number;
  /** The upper bound of the second dial's delay; it doubles with each further one. */
  readonly initialBackoffMs: number;
  /** The upper bound of any delay that the server did not ask for. */
  readonly maxBackoffMs: number;
  /** Unanswered heartbeats in a row that are a loss. */
  readonly missedHeartbeats: number;
}

export interface ConnectionInput extends RecoveryBudget {
  readonly ownership: Ownership;
  /** Open nothing until the first demand. */
  readonly lazy: boolean;
}

export interface ConnectionContext extends ConnectionInput {
  /** The current generation; 0 before the first. */
  readonly generation: number;
  /** Dials since the connection was last stable. */
  readonly attempts: number;
  /** What the server asked us to wait, in milliseconds. */
  readonly retryAfterMs: number;
  /** Why the connection is not ready. */
  readonly cause: Cause | null;
  /** The operation that was stricken by the loss, and whether it is proven not to have run. */
  readonly stricken: StrickenOperation | null;
  /** An operation waits for the outcome of the running probe, and may be sent (again) after it. */
  readonly wanted: boolean;
  /** What the running probe is about. */
  readonly suspicion: Cause | null;
  /** Unanswered heartbeats in a row. */
  readonly misses: number;
}

export interface StrickenOperation extends OperationFacts {
  readonly execution: 'none' | 'unknown';
}

export type ConnectionEvent =
  /** An operation wants the connection. */
  | { type: 'demand' }
  /** The host wants a new generation now. */
  | { type: 'reconnect' }
  /** Definitive evidence that a generation is gone. */
  | { type: 'lost'; generation: number; cause: Cause; stricken: StrickenOperation | null }
  /** Evidence that is worth one probe. `busy`: other operations are in flight. */
  | { type: 'suspected'; generation: number; cause: Cause; busy: boolean }
  /** The caller has put another connection in this one's place. */
  | { type: 'replaced' }
  /** The check of a supplied connection. */
  | { type: 'verified' }
  | { type: 'unverified' }
  | { type: 'close' };

/** What others may hear; said only after it is so. */
export type ConnectionEmitted =
  | { type: 'entered'; state: ConnectionState; cause: Cause | null }
  | { type: 'lost'; generation: number; cause: Cause }
  | { type: 'opened'; generation: number }
  | { type: 'probed'; generation: number };

export interface OpenInput {
  readonly generation: number;
  readonly attempt: number;
}

/** Why an `open` failed, as the rejected value of that actor. */
export interface OpenFailure {
  readonly cause: Cause;
  /** Dialling again cannot help until something else changes (credentials, the command, the address). */
  readonly permanent: boolean;
  readonly retryAfterMs: number;
}

export interface ProbeInput {
  readonly generation: number;
  readonly suspicion: Cause | null;
}

/** `busy`: no answer, while operations were in flight. */
export interface ProbeOutcome {
  readonly verdict: 'usable' | 'lost' | 'unanswered' | 'busy';
  readonly cause: Cause;
}

const CAUSES_THAT_BUSY_EXPLAINS: readonly Cause[] = ['timeout', 'heartbeat'];

function missing(actor: string): never {
  throw new Error(`connection.machine: the actor "${actor}" must be provided`);
}

export const connectionMachine = setup({
  types: {
    context: {} as ConnectionContext,
    input: {} as ConnectionInput,
    events: {} as ConnectionEvent,
    emitted: {} as ConnectionEmitted,
  },
  actors: {
    /** Makes a client and finishes its handshake. */
    open: fromPromise<void, OpenInput>(() => missing('open')),
    /** Says whether what the caller supplied is connected. Never connects it. */
    verify: fromCallback<ConnectionEvent>(() => missing('verify')),
    /** Asks the current generation for a sign of life. */
    probe: fromPromise<ProbeOutcome, ProbeInput>(() => missing('probe')),
    /** Lets operations in flight settle, then closes what is owned and lets go of what was lent. */
    shutdown: fromPromise<void>(() => missing('shutdown')),
  },
  guards: {
    ownedByCaller: ({ context }) => context.ownership !== 'supervisor',
    ownedBySupervisor: ({ context }) => context.ownership === 'supervisor',
    startsAtOnce: ({ context }) => context.ownership === 'supervisor' && !context.lazy,
    isCurrentGeneration: ({ context, event }) =>
      event.type === 'lost' && event.generation === context.generation,
    deservesProbe: ({ context, event }) =>
      event.type === 'suspected' &&
      event.generation === context.generation &&
      !(event.busy && CAUSES_THAT_BUSY_EXPLAINS.includes(event.cause)),
    probeProvesLoss: ({ context }, outcome: ProbeOutcome) =>
      outcome.verdict === 'lost' ||
      (outcome.verdict === 'unanswered' &&
        (context.suspicion !== 'heartbeat' || context.misses + 1 >= context.missedHeartbeats)),
    recreationIsWanted: ({ context }) =>
      context.recreate === 'eager' ||
      context.wanted ||
      (context.stricken !== null && maySendAgain(context.stricken.policy, context.stricken.execution)),
    budgetIsSpent: ({ context }) => context.attempts >= context.maxAttempts,
    budgetIsLeft: ({ context }) => context.attempts < context.maxAttempts,
    needsNoBackoff: ({ context }) => context.attempts === 0 && context.retryAfterMs === 0,
    mayDialAgain: ({ context }, failure: OpenFailure) =>
      !failure.permanent && context.attempts < context.maxAttempts,
  },
  actions: {
    announce: emit(({ context }, params: { state: ConnectionState }) => ({
      type: 'entered' as const,
      state: params.state,
      cause: context.cause,
    })),
    announceLoss: emit(({ context }) => ({
      type: 'lost' as const,
      generation: context.generation,
      cause: context.cause ?? 'unrecognised',
    })),
    announceGeneration: emit(({ context }) => ({ type: 'opened' as const, generation: context.generation })),
    announceProbe: emit(({ context }) => ({ type: 'probed' as const, generation: context.generation })),
    beginGeneration: assign(({ context }) => ({
      generation: context.generation + 1,
      retryAfterMs: 0,
      cause: null,
      suspicion: null,
      wanted: false,
      misses: 0,
      stricken: null,
    })),
    countAttempt: assign(({ context }) => ({ attempts: context.attempts + 1 })),
    giveBackAttempts: assign({ attempts: 0 }),
    allowOneTrial: assign(({ context }) => ({ attempts: context.maxAttempts - 1, retryAfterMs: 0 })),
    rememberFailure: assign((_, failure: OpenFailure) => ({
      cause: failure.cause,
      retryAfterMs: failure.retryAfterMs,
    })),
    rememberLoss: assign((_, params: { cause: Cause; stricken: StrickenOperation | null }) => params),
    rememberSuspicion: assign((_, params: { cause: Cause }) => ({ suspicion: params.cause })),
    noteDemand: assign({ wanted: true }),
    forgetDemand: assign({ wanted: false }),
    countMisses: assign(({ context }, outcome: ProbeOutcome) => ({
      misses: outcome.verdict === 'unanswered' ? context.misses + 1 : 0,
    })),
  },
  delays: {
    /** The upper bound; `src/` supplies full jitter. */
    backoff: ({ context }) =>
      Math.max(
        context.retryAfterMs,
        Math.min(context.maxBackoffMs, context.initialBackoffMs * 2 ** Math.max(0, context.attempts - 1)),
      ),
    window: ({ context }) => context.windowMs,
    stable: ({ context }) => context.stableMs,
    coolDown: ({ context }) => context.coolDownMs,
  },
}).createMachine({
  id: 'connection',
  context: ({ input }) => ({
    ...input,
    generation: 0,
    attempts: 0,
    retryAfterMs: 0,
    cause: null,
    stricken: null,
    wanted: false,
    suspicion: null,
    misses: 0,
  }),
  initial: 'idle',
  states: {
    /** Nothing opened. Only a lazy owned connection rests here. */
    idle: {
      entry: { type: 'announce', params: { state: 'idle' } },
      always: [
        { guard: 'ownedByCaller', target: '#connection.connecting.checking' },
        { guard: 'startsAtOnce', target: '#connection.connecting.opening' },
      ],
      on: {
        demand: { target: '#connection.connecting.opening' },
        reconnect: { target: '#connection.connecting.opening' },
        close: { target: 'closing' },
      },
    },

    /** The first handshake of an owned connection; the check of a supplied one, which is never connected. */
    connecting: {
      entry: { type: 'announce', params: { state: 'connecting' } },
      on: { close: { target: 'closing' } },
      initial: 'opening',
      states: {
        opening: {
          entry: 'countAttempt',
          invoke: {
            src: 'open',
            input: ({ context }) => ({ generation: context.generation + 1, attempt: context.attempts }),
            onDone: { target: '#connection.ready', actions: 'beginGeneration' },
            onError: [
              {
                guard: { type: 'mayDialAgain', params: ({ event }) => event.error as OpenFailure },
                target: '#connection.recreating',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
              {
                target: '#connection.exhausted',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
            ],
          },
        },
        checking: {
          invoke: { src: 'verify' },
          on: {
            verified: { target: '#connection.ready', actions: 'beginGeneration' },
            unverified: {
              target: '#connection.failed-ownership',
              actions: { type: 'rememberLoss', params: { cause: 'not-connected', stricken: null } },
            },
          },
        },
      },
    },

    /** Usable. Suspicions are settled here, without leaving. */
    ready: {
      entry: [{ type: 'announce', params: { state: 'ready' } }, 'announceGeneration'],
      after: { stable: { actions: 'giveBackAttempts' } },
      on: {
        lost: {
          guard: 'isCurrentGeneration',
          target: 'lost',
          actions: {
            type: 'rememberLoss',
            params: ({ event }) => ({ cause: event.cause, stricken: event.stricken }),
          },
        },
        reconnect: {
          guard: 'ownedBySupervisor',
          target: '#connection.recreating.opening',
          actions: [
            'giveBackAttempts',
            { type: 'rememberLoss', params: { cause: 'requested', stricken: null } },
          ],
        },
        replaced: {
          guard: 'ownedByCaller',
          target: '#connection.connecting.checking',
          actions: { type: 'rememberLoss', params: { cause: 'replaced', stricken: null } },
        },
        close: { target: 'closing' },
      },
      initial: 'steady',
      states: {
        steady: {
          on: {
            suspected: {
              guard: 'deservesProbe',
              target: 'probing',
              actions: { type: 'rememberSuspicion', params: ({ event }) => ({ cause: event.cause }) },
            },
          },
        },
        probing: {
          on: { demand: { actions: 'noteDemand' } },
          invoke: {
            src: 'probe',
            input: ({ context }) => ({ generation: context.generation, suspicion: context.suspicion }),
            onDone: [
              {
                guard: { type: 'probeProvesLoss', params: ({ event }) => event.output },
                target: '#connection.lost',
                actions: {
                  type: 'rememberLoss',
                  params: ({ event }) => ({ cause: event.output.cause, stricken: null }),
                },
              },
              {
                target: 'steady',
                actions: [
                  { type: 'countMisses', params: ({ event }) => event.output },
                  'forgetDemand',
                  'announceProbe',
                ],
              },
            ],
            // A probe that could not even be sent proves nothing.
            onError: { target: 'steady', actions: ['forgetDemand', 'announceProbe'] },
          },
        },
      },
    },

    /** The one decision point: who owns it, and does an operation that may be sent again want it back? */
    lost: {
      entry: [{ type: 'announce', params: { state: 'lost' } }, 'announceLoss'],
      always: [
        { guard: 'ownedByCaller', target: 'failed-ownership' },
        { guard: and(['recreationIsWanted', 'budgetIsSpent']), target: 'exhausted' },
        { guard: 'recreationIsWanted', target: 'recreating' },
      ],
      on: {
        demand: [{ guard: 'budgetIsLeft', target: 'recreating' }, { target: 'exhausted' }],
        reconnect: { target: '#connection.recreating.opening', actions: 'giveBackAttempts' },
        close: { target: 'closing' },
      },
    },

    /** Owned only: wait, then make a new generation. */
    recreating: {
      entry: { type: 'announce', params: { state: 'recreating' } },
      after: { window: { target: 'exhausted' } },
      on: { close: { target: 'closing' } },
      initial: 'backingOff',
      states: {
        backingOff: {
          always: { guard: 'needsNoBackoff', target: 'opening' },
          after: { backoff: { target: 'opening' } },
          on: { reconnect: { target: 'opening', actions: 'giveBackAttempts' } },
        },
        opening: {
          entry: 'countAttempt',
          invoke: {
            src: 'open',
            input: ({ context }) => ({ generation: context.generation + 1, attempt: context.attempts }),
            onDone: { target: '#connection.ready', actions: 'beginGeneration' },
            onError: [
              {
                guard: { type: 'mayDialAgain', params: ({ event }) => event.error as OpenFailure },
                target: 'backingOff',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
              {
                target: '#connection.exhausted',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
            ],
          },
        },
      },
    },

    /** Caller-owned and lost: only the caller can bring it back. */
    'failed-ownership': {
      entry: { type: 'announce', params: { state: 'failed-ownership' } },
      on: {
        replaced: { target: '#connection.connecting.checking' },
        close: { target: 'closing' },
      },
    },

    /** The budget is spent. Never dead for good. */
    exhausted: {
      entry: { type: 'announce', params: { state: 'exhausted' } },
      on: {
        reconnect: { target: '#connection.recreating.opening', actions: 'giveBackAttempts' },
        close: { target: 'closing' },
      },
      initial: 'cooling',
      states: {
        cooling: { after: { coolDown: { target: 'cooled' } } },
        cooled: { on: { demand: { target: '#connection.recreating.opening', actions: 'allowOneTrial' } } },
      },
    },

    closing: {
      entry: { type: 'announce', params: { state: 'closing' } },
      invoke: { src: 'shutdown', onDone: { target: 'closed' }, onError: { target: 'closed' } },
    },

    closed: {
      entry: { type: 'announce', params: { state: 'closed' } },
      type: 'final',
    },
  },
});
