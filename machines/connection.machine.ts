/**
 * One supervised connection to one MCP server.
 *
 * Invariants
 *  1. Nothing of a caller-owned connection is opened, closed or replaced: `retire` and `open` are invoked only in
 *     states that no transition of a caller-owned connection enters.
 *  2. `lost` is the one decision point. Caller-owned leaves it for `failed-ownership`, always. An owned one leaves it
 *     if it is eager, or for a demand: of an operation that may be sent (again), as `mayBeSent` says.
 *  3. A report or a demand that names a generation which is not the current one changes nothing.
 *  4. At most one `open` runs at a time; leaving its state aborts it. No `open` of a recreation begins before `retire`
 *     has said that what the generation before could clash with is gone.
 *  5. Attempts are counted when a dial starts and given back after `stable`, or when an operation of the host's was
 *     answered, never on entering `ready`: otherwise a flapping server would be dialled for ever. An answer gives
 *     nothing back to a recreation that no operation waits for. A trial after the cool-down is one attempt. Only
 *     the host's own `reconnect`, and a sign-in, give them all back too.
 *  6. The generation grows only when a handshake (or, for a caller-owned connection, a check) has finished.
 *  7. A suspicion does not leave `ready`. Silence is a loss only of an owned connection, after `missedProbes`
 *     unanswered probes in a row at growing distance and `silenceMs` (`busySilenceMs`) without any message, and never
 *     while a call that was in flight before the first of these probes is; any message clears it.
 *  8. After `close` nothing is opened. `closed` is final.
 *
 * Legal transitions. What is not here is illegal: ignored, nothing sent, nothing changed. `own` is ownership
 * `supervisor`, `lent` the other two. Of rows that begin alike, the first whose condition holds. Every loss goes
 * through `lost`, where it is decided at once: `no wait` means that no dial was made since attempts were given back,
 * and that the server did not ask to wait. A demand names the operation's policy and execution: `unanswered` is not
 * run, or unknown. A probe is `unanswered, idle` while nothing is in flight or outstanding, otherwise `busy`; `silent`
 * for `silenceMs`, while anything is outstanding for `busySilenceMs`, and with no call in flight from before the first
 * of these probes. `missed`: with this one, `missedProbes` in a row. `slept`: the suspicion is that the host slept.
 *
 *  from                   whose  to                     on [if]
 *  idle                   own    connecting.opening     demand [unsent]
 *                         own    connecting.opening     demand [safe, unanswered]
 *                         own    connecting.opening     demand [if-unsent, not run]
 *                         own    connecting.opening     reconnect
 *  connecting.opening     own    ready.steady           opened
 *                         own    connecting.backingOff  open failed [budget left]
 *                         own    exhausted.cooling      open failed [budget spent]
 *                         own    exhausted.signedOut    open failed, unauthorized [signs in]
 *                         own    exhausted.cooling      open failed, unauthorized; open failed for good
 *                         own    connecting.opening     after window [once, no failure]
 *                         own    exhausted.cooling      after window [once]
 *                         own    connecting.opening     after firstReady [once]
 *  connecting.backingOff  own    connecting.opening     after backoff; reconnect
 *                         own    exhausted.cooling      after window [once]
 *                         own    connecting.backingOff  after firstReady [once]
 *  connecting.checking    lent   ready.steady           verified
 *                         lent   failed-ownership       unverified
 *                         lent   connecting.checking    after window; after firstReady [once]
 *  ready.steady           any    ready.probing          suspected, by silence; suspected, by more;
 *                                                       suspected, the host slept
 *                         any    ready.steady           after stable [once]
 *                         own    ready.steady           answered
 *  ready.probing          any    ready.probing          suspected, the host slept
 *                         any    ready.probing          after stable [once]
 *                         own    ready.probing          answered
 *                         any    ready.steady           probe answered; probe could not be sent
 *                         own    lost                   probe lost; no server, for the window [on demand]
 *                         own    recreating.backingOff  probe lost; no server, for the window [eager, budget left]
 *                         own    exhausted.cooling      probe lost; no server, for the window [eager, budget spent]
 *                         lent   failed-ownership       probe lost
 *                         own    ready.unreachable      no server
 *                         lent   ready.steady           no server; no server, for the window
 *                         own    lost                   unanswered, idle;
 *                                                       unanswered, idle, silent [slept, on demand]
 *                         own    recreating.backingOff  unanswered, idle;
 *                                                       unanswered, idle, silent [slept, eager, budget left]
 *                         own    exhausted.cooling      unanswered, idle;
 *                                                       unanswered, idle, silent [slept, eager, budget spent]
 *                         own    lost                   unanswered, idle, silent;
 *                                                       unanswered, busy, silent [missed, on demand]
 *                         own    recreating.backingOff  unanswered, idle, silent;
 *                                                       unanswered, busy, silent [missed, eager, budget left]
 *                         own    exhausted.cooling      unanswered, idle, silent;
 *                                                       unanswered, busy, silent [missed, eager, budget spent]
 *                         any    ready.suspect          unanswered, idle; unanswered, idle, silent; unanswered, busy;
 *                                                       unanswered, busy, silent
 *  ready.suspect          any    ready.steady           heard
 *                         any    ready.probing          suspected, by more; suspected, the host slept;
 *                                                       after probeDistance
 *                         any    ready.suspect          after stable [once]
 *                         own    ready.suspect          answered
 *  ready.unreachable      any    ready.steady           heard
 *                         any    ready.probing          suspected, the host slept; after nextAttempt
 *                         any    ready.unreachable      after stable [once]
 *                         own    ready.unreachable      answered
 *  ready                  own    lost                   lost [on demand]
 *                         own    recreating.backingOff  lost [eager, budget left]
 *                         own    exhausted.cooling      lost [eager, budget spent]
 *                         lent   failed-ownership       lost
 *                         own    recreating.retiring    reconnect
 *                         lent   connecting.checking    replaced
 *                         any    closing                close
 *  lost                   own    recreating.retiring    demand [unsent, no wait]
 *                         own    recreating.retiring    demand [safe, unanswered, no wait]
 *                         own    recreating.retiring    demand [if-unsent, not run, no wait]
 *                         own    recreating.backingOff  demand [unsent, budget left]
 *                         own    recreating.backingOff  demand [safe, unanswered, budget left]
 *                         own    recreating.backingOff  demand [if-unsent, not run, budget left]
 *                         own    exhausted.cooling      demand [unsent, budget spent]
 *                         own    exhausted.cooling      demand [safe, unanswered, budget spent]
 *                         own    exhausted.cooling      demand [if-unsent, not run, budget spent]
 *                         own    recreating.retiring    reconnect
 *  recreating.backingOff  own    recreating.retiring    after backoff; reconnect
 *                         own    recreating.retiring    demand [unsent, unwanted, no wait]
 *                         own    recreating.retiring    demand [safe, unanswered, unwanted, no wait]
 *                         own    recreating.retiring    demand [if-unsent, not run, unwanted, no wait]
 *                         own    recreating.backingOff  demand [unsent, unwanted]
 *                         own    recreating.backingOff  demand [safe, unanswered, unwanted]
 *                         own    recreating.backingOff  demand [if-unsent, not run, unwanted]
 *                         own    exhausted.cooling      after window
 *  recreating.retiring    own    recreating.opening     retired
 *                         own    recreating.backingOff  retiring failed [budget left]
 *                         own    exhausted.cooling      retiring failed [budget spent]
 *                         own    exhausted.cooling      retiring failed for good; after window
 *                         own    recreating.retiring    demand [unsent, unwanted]
 *                         own    recreating.retiring    demand [safe, unanswered, unwanted]
 *                         own    recreating.retiring    demand [if-unsent, not run, unwanted]
 *  recreating.opening     own    ready.steady           opened
 *                         own    recreating.backingOff  open failed [budget left]
 *                         own    exhausted.cooling      open failed [budget spent]
 *                         own    exhausted.signedOut    open failed, unauthorized [signs in]
 *                         own    exhausted.cooling      open failed, unauthorized; open failed for good;
 *                                                       after window
 *                         own    recreating.opening     demand [unsent, unwanted]
 *                         own    recreating.opening     demand [safe, unanswered, unwanted]
 *                         own    recreating.opening     demand [if-unsent, not run, unwanted]
 *  failed-ownership       lent   connecting.checking    replaced
 *  exhausted.cooling      own    exhausted.cooled       after coolDown [on demand]
 *                         own    recreating.retiring    after coolDown [eager, was ready]
 *                         own    connecting.opening     after coolDown [eager, never ready]
 *                         own    recreating.retiring    reconnect; authorized [was ready]
 *                         own    connecting.opening     reconnect; authorized [never ready]
 *  exhausted.cooled       own    recreating.retiring    demand [unsent, was ready]
 *                         own    recreating.retiring    demand [safe, unanswered, was ready]
 *                         own    recreating.retiring    demand [if-unsent, not run, was ready]
 *                         own    connecting.opening     demand [unsent, never ready]
 *                         own    connecting.opening     demand [safe, unanswered, never ready]
 *                         own    connecting.opening     demand [if-unsent, not run, never ready]
 *                         own    recreating.retiring    reconnect; authorized [was ready]
 *                         own    connecting.opening     reconnect; authorized [never ready]
 *  exhausted.signedOut    own    exhausted.signedOut    after coolDown [eager]
 *                         own    exhausted.signedOut    after coolDown [once]
 *                         own    recreating.retiring    reconnect; authorized [was ready]
 *                         own    connecting.opening     reconnect; authorized [never ready]
 *  (open)                 any    closing                close
 *  closing                any    closed                 shut down
 */
import { and, assign, emit, fromCallback, fromPromise, setup } from 'xstate';
import { type Cause, type DemandedOperation, mayBeSent, type Ownership } from './vocabulary.ts';

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
  /** `eager` recreates on every loss, and after every cool-down; `on-demand` when an operation wants it. */
  readonly recreate: 'eager' | 'on-demand';
  /** Dials until a connection has been stable, or has answered an operation. */
  readonly maxAttempts: number;
  /** The longest that one stay in `recreating` may last; of `connecting`, whatever follows its first dial. */
  readonly windowMs: number;
  /** How long a connection must stay ready before its attempts are given back. */
  readonly stableMs: number;
  /** Before the first `ready`: after this time, and three dials, those who wait are told that no server is there. */
  readonly firstReadyMs: number;
  /** How long `exhausted` refuses demands, unless the server asked to wait longer. */
  readonly coolDownMs: number;
  /** The upper bound of the first two delays; it grows with each further one. */
  readonly initialBackoffMs: number;
  /** The upper bound of any delay that the server did not ask for. */
  readonly maxBackoffMs: number;
}

/** What silence has to be before it is a loss. All durations in milliseconds. */
export interface SilenceLimits {
  /** Unanswered probes in a row. */
  readonly missedProbes: number;
  /** How long one probe is waited for; the distance to the next begins with it, and doubles. */
  readonly probeTimeoutMs: number;
  /** Without a message of any kind from the server. */
  readonly silenceMs: number;
  /** The same, while the server may still be working on what the host gave up. */
  readonly busySilenceMs: number;
}

export interface ConnectionInput extends RecoveryBudget, SilenceLimits {
  readonly ownership: Ownership;
  /** Open nothing until the first demand. */
  readonly lazy: boolean;
  /** The server is a child process: each dial starts it. */
  readonly spawns: boolean;
  /** The host gave an `authProvider`: after a refusal, nothing is tried before somebody has signed in. */
  readonly signsIn: boolean;
}

export interface ConnectionContext {
  /** What the host has decided; it does not change. */
  readonly settings: ConnectionInput;
  /** The current generation; 0 before the first. */
  readonly generation: number;
  /** Dials since the connection was last stable, or answered an operation of the host's. */
  readonly attempts: number;
  /** Dials since it was last stable, as far as they count: at most `maxAttempts`. */
  readonly dialsSinceStable: number;
  /** An operation waits for this recreation. */
  readonly wanted: boolean;
  /** Of this stay in `connecting`: `firstReadyMs` have passed. */
  readonly firstReadyIsOver: boolean;
  /** The same: dials in a row that found no server, as far as they count: at most three. */
  readonly dialsWithoutServer: number;
  /** What the server asked us to wait, in milliseconds; at most `MAX_RETRY_AFTER_MS`. */
  readonly retryAfterMs: number;
  /** Why the connection is not ready. */
  readonly cause: Cause | null;
  /** What the running probe, or the one to come, is about. */
  readonly suspicion: Cause | null;
  /** Unanswered probes in a row. */
  readonly misses: number;
}

export type ConnectionEvent =
  /** An operation wants the connection. */
  | { type: 'demand'; generation: number; operation: DemandedOperation }
  /** The host wants a new generation now. */
  | { type: 'reconnect' }
  /** Definitive evidence that a generation is gone. */
  | { type: 'lost'; generation: number; cause: Cause }
  /** Evidence that is worth one probe. */
  | { type: 'suspected'; generation: number; cause: Cause }
  /** A message came from the server. Said only while it is suspect. */
  | { type: 'heard'; generation: number }
  /** An operation of the host's was answered: no ping, and nothing that we sent by ourselves. */
  | { type: 'answered'; generation: number }
  /** Somebody has signed in, or the host has other tokens than those that were refused. */
  | { type: 'authorized' }
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
  /** A dial has failed, and another one will follow. `serverIsMissing`: it is time to say so to those who wait. */
  | { type: 'dial-failed'; serverIsMissing: boolean }
  /** A probe begins. */
  | { type: 'suspected'; generation: number; cause: Cause }
  /** A probe has ended, and the connection is not lost; `suspect` if it was not answered. */
  | { type: 'probed'; generation: number; found: ProbeFinding }
  /** A message has ended the suspicion. */
  | { type: 'cleared'; generation: number };

export interface OpenInput {
  readonly generation: number;
  readonly attempt: number;
}

/** Why a dial failed, as the rejected value of `open` and of `retire`. */
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

export interface ProbeOutcome {
  /** `unreachable`: no server is there, and without a session there is nothing that it could have lost. */
  readonly verdict: 'usable' | 'lost' | 'unanswered' | 'unreachable';
  readonly cause: Cause;
  /** Of an unreachable one: since the first of them in a row. */
  readonly unreachableMs?: number | undefined;
  /** Of an unanswered one: what its silence has to be judged by. */
  readonly silence?: SilenceFacts | undefined;
}

export type ProbeFinding = 'usable' | 'suspect' | 'unreachable';

export interface SilenceFacts {
  /** Since something was first asked after the last message of any kind. */
  readonly silentMs: number;
  /** The server may still be working on what the host gave up. */
  readonly outstanding: boolean;
  readonly inFlight: boolean;
  /** A call is in flight that was in flight before the first of these unanswered probes. */
  readonly earlierCallInFlight: boolean;
}

/** Suspicions of nothing but silence. In between two probes they add nothing. */
const OF_SILENCE: readonly (Cause | null)[] = ['timeout', 'heartbeat'];

function isLostByAbsence({ settings }: ConnectionContext, unreachableMs = 0): boolean {
  return settings.ownership === 'supervisor' && unreachableMs >= settings.windowMs;
}

function isLostBySilence(context: ConnectionContext, silence: SilenceFacts | undefined): boolean {
  if (context.settings.ownership !== 'supervisor' || silence === undefined) return false;
  const { silentMs, outstanding, inFlight, earlierCallInFlight } = silence;
  if (context.suspicion === 'host-slept' && !outstanding && !inFlight) return true;
  if (earlierCallInFlight || context.misses + 1 < context.settings.missedProbes) return false;
  return silentMs >= (outstanding ? context.settings.busySilenceMs : context.settings.silenceMs);
}

/** Nobody can wait for what comes later. */
export const MAX_RETRY_AFTER_MS = 600_000;

/** What a server that is there, and has forgotten the session, has said. */
const SAID_BY_THE_SERVER: readonly (Cause | null)[] = [
  'session-unknown',
  'session-rejected',
  'session-error',
  'version-changed',
];

/** How a dial fails where there is no server. A process that exits in its handshake closes its connection, or cuts it. */
const SAYS_NO_SERVER: readonly (Cause | null)[] = [
  'unreachable',
  'unwritten',
  'not-connected',
  'connection-closed',
];

/** So many in a row are no accident. */
const DIALS_THAT_SHOW_A_MISSING_SERVER = 3;

function saysNoServer(cause: Cause | null, spawns: boolean): boolean {
  return SAYS_NO_SERVER.includes(cause) || (spawns && cause === 'request-cut');
}

function serverIsMissing({ dialsWithoutServer }: ConnectionContext): boolean {
  return dialsWithoutServer >= DIALS_THAT_SHOW_A_MISSING_SERVER;
}

export function isUnwanted({ settings, wanted }: ConnectionContext): boolean {
  return settings.recreate === 'eager' && !wanted;
}

/**
 * A host that asks for something after each recreation, of a server that ends after each answer, would go on for
 * ever if its own answers paid for the next recreation.
 */
function countedAttempts(context: ConnectionContext): number {
  return isUnwanted(context) ? context.dialsSinceStable : context.attempts;
}

/**
 * The delay before a dial, in milliseconds; `random` is 0 to 1.
 *
 * Over a network the bounds grow by an eighth: of the time since the server went, no delay is more than a quarter and
 * `initialBackoffMs`, whatever the delays before it were. A dial that starts a process costs more, and they double.
 * The first delay can be nothing, so that connections which were lost together do not come back together; half of
 * each later one is random.
 */
export function backoffMs(context: ConnectionContext, random: number): number {
  const { settings, retryAfterMs } = context;
  const ours = delayMs(settings, countedAttempts(context), random);
  return retryAfterMs === 0 ? ours : Math.max(ours, retryAfterMs + random * settings.initialBackoffMs);
}

export type Pace = Pick<ConnectionInput, 'spawns' | 'initialBackoffMs' | 'maxBackoffMs'>;

/** The same, after so many attempts, where the server did not ask to wait. */
export function delayMs(
  { spawns, initialBackoffMs, maxBackoffMs }: Pace,
  attempts: number,
  random: number,
): number {
  const growth = (spawns ? 2 : 1.125) ** Math.max(0, attempts - 1);
  const share = attempts === 0 ? random : (1 + random) / 2;
  return Math.min(maxBackoffMs, initialBackoffMs * growth) * share;
}

/**
 * How long demands are refused, in milliseconds; `random` is 0 to 1. A tenth of our own time is random, so that
 * connections that were given up together are not tried together; what the server asked for is waited out.
 */
export function coolDownMs({ settings, retryAfterMs }: ConnectionContext, random: number): number {
  const asked = retryAfterMs === 0 ? 0 : retryAfterMs + (1 - random) * settings.initialBackoffMs;
  return Math.max(settings.coolDownMs * (1 - random / 10), asked);
}

function missing(part: string): never {
  throw new Error(`connection.machine: "${part}" must be provided`);
}

export const connectionMachine = setup({
  types: {
    context: {} as ConnectionContext,
    input: {} as ConnectionInput,
    events: {} as ConnectionEvent,
    emitted: {} as ConnectionEmitted,
  },
  actors: {
    /** Waits until what the generation before could clash with is gone. */
    retire: fromPromise<void>(() => missing('retire')),
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
    ownedByCaller: ({ context }) => context.settings.ownership !== 'supervisor',
    ownedBySupervisor: ({ context }) => context.settings.ownership === 'supervisor',
    startsAtOnce: ({ context }) => context.settings.ownership === 'supervisor' && !context.settings.lazy,
    isEager: ({ context }) => context.settings.recreate === 'eager',
    operationMayBeSent: ({ context, event }) =>
      event.type === 'demand' && event.generation === context.generation && mayBeSent(event.operation),
    isCurrentGeneration: ({ context, event }) =>
      'generation' in event && event.generation === context.generation,
    hostSlept: ({ event }) => event.type === 'suspected' && event.cause === 'host-slept',
    isMoreThanSilence: ({ event }) => event.type === 'suspected' && !OF_SILENCE.includes(event.cause),
    probeProvesLoss: ({ context }, { verdict, silence, unreachableMs }: ProbeOutcome) =>
      verdict === 'lost' ||
      (verdict === 'unanswered' && isLostBySilence(context, silence)) ||
      (verdict === 'unreachable' && isLostByAbsence(context, unreachableMs)),
    probeIsUnanswered: (_, { verdict }: ProbeOutcome) => verdict === 'unanswered',
    // Of what belongs to its caller nobody waits here for a server.
    probeFindsNoServer: ({ context }, { verdict }: ProbeOutcome) =>
      verdict === 'unreachable' && context.settings.ownership === 'supervisor',
    wasEverReady: ({ context }) => context.generation > 0,
    aDialHasFailed: ({ context }) => context.cause !== null,
    budgetIsSpent: ({ context }) => countedAttempts(context) >= context.settings.maxAttempts,
    budgetIsLeft: ({ context }) => countedAttempts(context) < context.settings.maxAttempts,
    isUnwanted: ({ context }) => isUnwanted(context),
    // A process is started by nobody else; a server that has just answered is there.
    needsNoBackoff: ({ context }) =>
      !isUnwanted(context) &&
      context.attempts === 0 &&
      context.retryAfterMs === 0 &&
      (context.settings.spawns || SAID_BY_THE_SERVER.includes(context.cause)),
    mayDialAgain: ({ context }, failure: OpenFailure) =>
      !failure.permanent &&
      failure.retryAfterMs <= context.settings.windowMs &&
      countedAttempts(context) < context.settings.maxAttempts,
    awaitsSignIn: ({ context }, failure: OpenFailure) =>
      context.settings.signsIn && failure.cause === 'unauthorized',
    serverIsMissing: ({ context }) => serverIsMissing(context),
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
    announceFailedDial: emit(({ context }) => ({
      type: 'dial-failed' as const,
      serverIsMissing: context.firstReadyIsOver && serverIsMissing(context),
    })),
    announceSuspicion: emit(({ context }) => ({
      type: 'suspected' as const,
      generation: context.generation,
      cause: context.suspicion ?? 'unrecognised',
    })),
    announceProbe: emit(({ context }, params: { found: ProbeFinding }) => ({
      type: 'probed' as const,
      generation: context.generation,
      ...params,
    })),
    announceMessage: emit(({ context }) => ({ type: 'cleared' as const, generation: context.generation })),
    beginGeneration: assign(({ context }) => ({
      generation: context.generation + 1,
      wanted: false,
      firstReadyIsOver: false,
      dialsWithoutServer: 0,
      retryAfterMs: 0,
      cause: null,
      suspicion: null,
      misses: 0,
    })),
    countAttempt: assign(({ context }) => ({
      attempts: context.attempts + 1,
      dialsSinceStable: Math.min(context.settings.maxAttempts, context.dialsSinceStable + 1),
    })),
    giveBackAttempts: assign({ attempts: 0, dialsSinceStable: 0 }),
    giveBackForAnswer: assign({ attempts: 0 }),
    allowOneTrial: assign(({ context }) => ({
      attempts: context.settings.maxAttempts - 1,
      dialsSinceStable: context.settings.maxAttempts - 1,
      retryAfterMs: 0,
    })),
    noteDemand: assign({ wanted: true }),
    beginWait: assign({ firstReadyIsOver: false, dialsWithoutServer: 0 }),
    countDialWithoutServer: assign(({ context }) => ({
      dialsWithoutServer: saysNoServer(context.cause, context.settings.spawns)
        ? Math.min(DIALS_THAT_SHOW_A_MISSING_SERVER, context.dialsWithoutServer + 1)
        : 0,
    })),
    noteFirstReadyIsOver: assign({ firstReadyIsOver: true }),
    rememberFailure: assign((_, failure: OpenFailure) => ({
      cause: failure.cause,
      retryAfterMs: Math.min(MAX_RETRY_AFTER_MS, failure.retryAfterMs),
    })),
    /** Asks the host for its tokens: `authorized` follows if they are not those that were refused. */
    readTokens: () => missing('readTokens'),
    rememberLoss: assign((_, params: { cause: Cause }) => params),
    rememberSuspicion: assign((_, params: { cause: Cause }) => ({ suspicion: params.cause })),
    countMiss: assign(({ context }) => ({ misses: context.misses + 1 })),
    clearSuspicion: assign({ suspicion: null, misses: 0 }),
  },
  delays: {
    /** The upper bound; `src/` supplies the randomness. */
    backoff: ({ context }) => backoffMs(context, 1),
    window: ({ context }) => context.settings.windowMs,
    stable: ({ context }) => context.settings.stableMs,
    firstReady: ({ context }) => Math.min(context.settings.firstReadyMs, context.settings.windowMs),
    /** The upper bound; `src/` supplies the randomness. */
    coolDown: ({ context }) => coolDownMs(context, 0),
    /** The upper bound; `src/` supplies the randomness. */
    nextAttempt: ({ context }) => delayMs(context.settings, context.misses, 1),
    probeDistance: ({ context }) =>
      Math.min(
        context.settings.busySilenceMs,
        context.settings.probeTimeoutMs * 2 ** Math.max(0, context.misses - 1),
      ),
  },
}).createMachine({
  id: 'connection',
  context: ({ input }) => ({
    generation: 0,
    attempts: 0,
    dialsSinceStable: 0,
    wanted: false,
    firstReadyIsOver: false,
    dialsWithoutServer: 0,
    retryAfterMs: 0,
    cause: null,
    suspicion: null,
    misses: 0,
    settings: input,
  }),
  initial: 'idle',
  states: {
    /** Nothing opened. Only a lazy owned connection rests here. */
    idle: {
      entry: { type: 'announce', params: { state: 'idle' } },
      always: [
        { guard: 'ownedByCaller', target: '#connection.connecting.checking' },
        { guard: 'startsAtOnce', target: 'connecting' },
      ],
      on: {
        demand: { guard: and(['ownedBySupervisor', 'operationMayBeSent']), target: 'connecting' },
        reconnect: { target: 'connecting' },
        close: { target: 'closing' },
      },
    },

    /** Owned: all that comes before the first `ready`. Caller-owned: the check of what was supplied. */
    connecting: {
      entry: [{ type: 'announce', params: { state: 'connecting' } }, 'beginWait'],
      after: {
        // The first dial may take as long as it likes: `npx` may have to download its package.
        window: { guard: and(['ownedBySupervisor', 'aDialHasFailed']), target: 'exhausted' },
        firstReady: [
          { guard: 'serverIsMissing', actions: ['noteFirstReadyIsOver', 'announceFailedDial'] },
          { guard: 'ownedBySupervisor', actions: 'noteFirstReadyIsOver' },
        ],
      },
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
                guard: { type: 'awaitsSignIn', params: ({ event }) => event.error as OpenFailure },
                target: '#connection.exhausted.signedOut',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
              {
                guard: { type: 'mayDialAgain', params: ({ event }) => event.error as OpenFailure },
                target: 'backingOff',
                actions: [
                  { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
                  'countDialWithoutServer',
                  'announceFailedDial',
                ],
              },
              {
                target: '#connection.exhausted',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
            ],
          },
        },
        backingOff: {
          after: { backoff: { target: 'opening' } },
          on: { reconnect: { target: 'opening', actions: 'giveBackAttempts' } },
        },
        checking: {
          invoke: { src: 'verify' },
          on: {
            verified: { target: '#connection.ready', actions: 'beginGeneration' },
            unverified: {
              target: '#connection.failed-ownership',
              actions: { type: 'rememberLoss', params: { cause: 'not-connected' } },
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
        answered: { guard: and(['ownedBySupervisor', 'isCurrentGeneration']), actions: 'giveBackForAnswer' },
        lost: {
          guard: 'isCurrentGeneration',
          target: 'lost',
          actions: { type: 'rememberLoss', params: ({ event }) => ({ cause: event.cause }) },
        },
        reconnect: {
          guard: 'ownedBySupervisor',
          target: '#connection.recreating.retiring',
          actions: ['giveBackAttempts', { type: 'rememberLoss', params: { cause: 'requested' } }],
        },
        replaced: {
          guard: 'ownedByCaller',
          target: '#connection.connecting.checking',
          actions: { type: 'rememberLoss', params: { cause: 'replaced' } },
        },
        close: { target: 'closing' },
      },
      initial: 'steady',
      states: {
        steady: {
          on: {
            suspected: {
              guard: 'isCurrentGeneration',
              target: 'probing',
              actions: { type: 'rememberSuspicion', params: ({ event }) => ({ cause: event.cause }) },
            },
          },
        },
        probing: {
          entry: 'announceSuspicion',
          invoke: {
            src: 'probe',
            input: ({ context }) => ({ generation: context.generation, suspicion: context.suspicion }),
            onDone: [
              {
                guard: { type: 'probeProvesLoss', params: ({ event }) => event.output },
                target: '#connection.lost',
                actions: { type: 'rememberLoss', params: ({ event }) => ({ cause: event.output.cause }) },
              },
              {
                guard: { type: 'probeIsUnanswered', params: ({ event }) => event.output },
                target: 'suspect',
                actions: ['countMiss', { type: 'announceProbe', params: { found: 'suspect' } }],
              },
              {
                guard: { type: 'probeFindsNoServer', params: ({ event }) => event.output },
                target: 'unreachable',
                actions: ['countMiss', { type: 'announceProbe', params: { found: 'unreachable' } }],
              },
              {
                target: 'steady',
                actions: ['clearSuspicion', { type: 'announceProbe', params: { found: 'usable' } }],
              },
            ],
            // A probe that could not even be sent proves nothing.
            onError: {
              target: 'steady',
              actions: ['clearSuspicion', { type: 'announceProbe', params: { found: 'usable' } }],
            },
          },
          on: {
            // What was asked before the sleep, or by a heartbeat on waking up, does not stand for the probe after it.
            suspected: {
              guard: and(['isCurrentGeneration', 'hostSlept']),
              target: 'probing',
              reenter: true,
              actions: { type: 'rememberSuspicion', params: ({ event }) => ({ cause: event.cause }) },
            },
          },
        },
        /**
         * Owned, without a session: no server is there, and the client is as good as ever. It is asked again at
         * recovery's pace, and calls wait, until anything answers.
         */
        unreachable: {
          after: { nextAttempt: { target: 'probing' } },
          on: {
            heard: {
              guard: 'isCurrentGeneration',
              target: 'steady',
              actions: ['clearSuspicion', 'announceMessage'],
            },
            suspected: {
              guard: and(['isCurrentGeneration', 'hostSlept']),
              target: 'probing',
              actions: { type: 'rememberSuspicion', params: ({ event }) => ({ cause: event.cause }) },
            },
          },
        },
        /** The last probe was not answered; the next one is to come. Calls are sent all the same. */
        suspect: {
          after: { probeDistance: { target: 'probing' } },
          on: {
            heard: {
              guard: 'isCurrentGeneration',
              target: 'steady',
              actions: ['clearSuspicion', 'announceMessage'],
            },
            suspected: {
              guard: and(['isCurrentGeneration', 'isMoreThanSilence']),
              target: 'probing',
              actions: { type: 'rememberSuspicion', params: ({ event }) => ({ cause: event.cause }) },
            },
          },
        },
      },
    },

    /** The one decision point: who owns it, and does an operation that may be sent (again) want it back? */
    lost: {
      entry: [{ type: 'announce', params: { state: 'lost' } }, 'announceLoss'],
      always: [
        { guard: 'ownedByCaller', target: 'failed-ownership' },
        { guard: and(['isEager', 'budgetIsSpent']), target: 'exhausted' },
        { guard: 'isEager', target: 'recreating' },
      ],
      on: {
        demand: [
          {
            guard: and(['ownedBySupervisor', 'operationMayBeSent', 'budgetIsLeft']),
            target: 'recreating',
            actions: 'noteDemand',
          },
          { guard: and(['ownedBySupervisor', 'operationMayBeSent']), target: 'exhausted' },
        ],
        reconnect: { target: '#connection.recreating.retiring', actions: 'giveBackAttempts' },
        close: { target: 'closing' },
      },
    },

    /** Owned only: wait, let the generation before end where the two would clash, then make a new one. */
    recreating: {
      entry: { type: 'announce', params: { state: 'recreating' } },
      after: { window: { target: 'exhausted' } },
      on: {
        demand: { guard: and(['operationMayBeSent', 'isUnwanted']), actions: 'noteDemand' },
        close: { target: 'closing' },
      },
      initial: 'backingOff',
      states: {
        backingOff: {
          always: { guard: 'needsNoBackoff', target: 'retiring' },
          after: { backoff: { target: 'retiring' } },
          on: {
            // Of an operation that waits the delay is another one.
            demand: {
              guard: and(['operationMayBeSent', 'isUnwanted']),
              target: 'backingOff',
              reenter: true,
              actions: 'noteDemand',
            },
            reconnect: { target: 'retiring', actions: 'giveBackAttempts' },
          },
        },
        retiring: {
          entry: 'countAttempt',
          invoke: {
            src: 'retire',
            onDone: { target: 'opening' },
            onError: [
              {
                guard: { type: 'mayDialAgain', params: ({ event }) => event.error as OpenFailure },
                target: 'backingOff',
                actions: [
                  { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
                  'announceFailedDial',
                ],
              },
              {
                target: '#connection.exhausted',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
            ],
          },
        },
        opening: {
          invoke: {
            src: 'open',
            input: ({ context }) => ({ generation: context.generation + 1, attempt: context.attempts }),
            onDone: { target: '#connection.ready', actions: 'beginGeneration' },
            onError: [
              {
                guard: { type: 'awaitsSignIn', params: ({ event }) => event.error as OpenFailure },
                target: '#connection.exhausted.signedOut',
                actions: { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
              },
              {
                guard: { type: 'mayDialAgain', params: ({ event }) => event.error as OpenFailure },
                target: 'backingOff',
                actions: [
                  { type: 'rememberFailure', params: ({ event }) => event.error as OpenFailure },
                  'announceFailedDial',
                ],
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

    /** The budget is spent, or the refusal is one that does not pass by itself. Never dead for good. */
    exhausted: {
      entry: { type: 'announce', params: { state: 'exhausted' } },
      on: {
        authorized: [
          {
            guard: 'wasEverReady',
            target: '#connection.recreating.retiring',
            actions: 'giveBackAttempts',
          },
          { target: 'connecting', actions: 'giveBackAttempts' },
        ],
        reconnect: [
          {
            guard: 'wasEverReady',
            target: '#connection.recreating.retiring',
            actions: 'giveBackAttempts',
          },
          { target: 'connecting', actions: 'giveBackAttempts' },
        ],
        close: { target: 'closing' },
      },
      initial: 'cooling',
      states: {
        cooling: {
          after: {
            coolDown: [
              {
                guard: and(['isEager', 'wasEverReady']),
                target: '#connection.recreating.retiring',
                actions: 'allowOneTrial',
              },
              { guard: 'isEager', target: '#connection.connecting', actions: 'allowOneTrial' },
              { target: 'cooled' },
            ],
          },
        },
        cooled: {
          on: {
            demand: [
              {
                guard: and(['ownedBySupervisor', 'operationMayBeSent', 'wasEverReady']),
                target: '#connection.recreating.retiring',
                actions: 'allowOneTrial',
              },
              {
                guard: and(['ownedBySupervisor', 'operationMayBeSent']),
                target: '#connection.connecting',
                actions: 'allowOneTrial',
              },
            ],
          },
        },
        /** A dial would begin a login, which a person has to want. */
        signedOut: {
          after: {
            coolDown: { guard: 'isEager', target: 'signedOut', reenter: true, actions: 'readTokens' },
          },
        },
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
