/**
 * Every event that the connection machine can meet, with the values that make a difference to it. A new event,
 * actor or delay of the machine does not compile until it stands here.
 */
import type { EventFromLogic, SnapshotFrom } from 'xstate';
import type {
  ConnectionContext,
  ConnectionEvent,
  connectionMachine,
  OpenFailure,
  ProbeOutcome,
  SilenceFacts,
} from '../../machines/connection.machine.ts';
import type { Cause, DemandedOperation, OperationKind, ReplayPolicy } from '../../machines/vocabulary.ts';
import { BUDGET } from '../machines/connection-driver.ts';
import type { Fixtures } from './graph.ts';
import { type ActorNames, type DelayNames, delayEvent, type Ending, endingEvent } from './machine-events.ts';

type Machine = typeof connectionMachine;
type Snapshot = SnapshotFrom<Machine>;
type Sent<T extends ConnectionEvent['type']> = (
  context: ConnectionContext,
) => Extract<ConnectionEvent, { type: T }>;

const POLICIES = { safe: true, 'if-unsent': true, never: true } as const satisfies Record<ReplayPolicy, true>;

/** What is known of the execution of an operation that demands. */
export const EXECUTION_WORDS = {
  unsent: 'unsent',
  'not run': 'none',
  'may have run': 'unknown',
  answered: 'answered',
} as const satisfies Record<string, DemandedOperation['execution']>;

type DemandName = `demand, ${ReplayPolicy}, ${keyof typeof EXECUTION_WORDS}`;

const demand =
  (operation: DemandedOperation, generationsAway = 0): Sent<'demand'> =>
  ({ generation }) => ({ type: 'demand', generation: generation + generationsAway, operation });

function demands(kind: OperationKind): Record<DemandName, Sent<'demand'>> {
  const all = Object.keys(POLICIES).flatMap((policy) =>
    Object.entries(EXECUTION_WORDS).map(([word, execution]) => [
      `demand, ${policy}, ${word}`,
      demand({ kind, policy: policy as ReplayPolicy, execution }),
    ]),
  );
  return Object.fromEntries(all);
}

const UNSENT: DemandedOperation = { kind: 'tool', policy: 'safe', execution: 'unsent' };

const lost =
  (cause: Cause, generationsAway = 0): Sent<'lost'> =>
  ({ generation }) => ({ type: 'lost', generation: generation + generationsAway, cause });

const suspected =
  (cause: Cause, generationsAway = 0): Sent<'suspected'> =>
  ({ generation }) => ({ type: 'suspected', generation: generation + generationsAway, cause });

const answered =
  (generationsAway = 0): Sent<'answered'> =>
  ({ generation }) => ({ type: 'answered', generation: generation + generationsAway });

const heard =
  (generationsAway = 0): Sent<'heard'> =>
  ({ generation }) => ({ type: 'heard', generation: generation + generationsAway });

const SENT = {
  demand: {
    ...demands('tool'),
    'demand, of the generation before': demand(UNSENT, -1),
    'demand, of a generation to come': demand(UNSENT, 1),
  },
  reconnect: { reconnect: () => ({ type: 'reconnect' }) },
  lost: {
    lost: lost('session-unknown'),
    'lost, rejected': lost('session-rejected'),
    'lost, closed': lost('connection-closed'),
    'lost, of the generation before': lost('session-unknown', -1),
    'lost, of a generation to come': lost('session-unknown', 1),
  },
  suspected: {
    'suspected, timeout': suspected('timeout'),
    'suspected, heartbeat': suspected('heartbeat'),
    'suspected, deaf': suspected('deaf'),
    'suspected, host-slept': suspected('host-slept'),
    'suspected, of the generation before': suspected('deaf', -1),
    'suspected, of a generation to come': suspected('deaf', 1),
  },
  heard: {
    heard: heard(),
    'heard, of the generation before': heard(-1),
    'heard, of a generation to come': heard(1),
  },
  answered: {
    answered: answered(),
    'answered, of the generation before': answered(-1),
    'answered, of a generation to come': answered(1),
  },
  authorized: { authorized: () => ({ type: 'authorized' }) },
  replaced: { replaced: () => ({ type: 'replaced' }) },
  verified: { verified: () => ({ type: 'verified' }) },
  unverified: { unverified: () => ({ type: 'unverified' }) },
  close: { close: () => ({ type: 'close' }) },
} as const satisfies { [T in ConnectionEvent['type']]: Record<string, Sent<T>> };

export const FAILURES = {
  'open failed': { cause: 'unreachable', permanent: false, retryAfterMs: 0 },
  'open failed, and the server asks to wait': { cause: 'http-error', permanent: false, retryAfterMs: 7_000 },
  'open failed, and the server asks for too long a wait': {
    cause: 'http-error',
    permanent: false,
    retryAfterMs: BUDGET.windowMs + 1,
  },
  'open failed, unauthorized': { cause: 'unauthorized', permanent: true, retryAfterMs: 0 },
  'open failed for good': { cause: 'http-refused', permanent: true, retryAfterMs: 0 },
  'retiring failed': { cause: 'not-ended', permanent: false, retryAfterMs: 0 },
  'retiring failed for good': { cause: 'not-ended', permanent: true, retryAfterMs: 0 },
} as const satisfies Record<string, OpenFailure>;

const { silenceMs, busySilenceMs } = BUDGET;
const IDLE: SilenceFacts = {
  silentMs: silenceMs,
  outstanding: false,
  inFlight: false,
  earlierCallInFlight: false,
};

const unanswered = (silence?: Partial<SilenceFacts>): ProbeOutcome => ({
  verdict: 'unanswered',
  cause: 'timeout',
  silence: silence && { ...IDLE, ...silence },
});

export const PROBE_OUTCOMES = {
  'probe answered': { verdict: 'usable', cause: 'deaf' },
  'probe lost': { verdict: 'lost', cause: 'session-unknown' },
  'unanswered, idle, heard of lately': unanswered({ silentMs: silenceMs - 1 }),
  'unanswered, idle, silent': unanswered({}),
  'unanswered, later call, heard of lately': unanswered({ silentMs: silenceMs - 1, inFlight: true }),
  'unanswered, later call, silent': unanswered({ inFlight: true }),
  'unanswered, earlier call, silent': unanswered({
    silentMs: busySilenceMs,
    inFlight: true,
    earlierCallInFlight: true,
  }),
  'unanswered, outstanding, not silent for long': unanswered({
    silentMs: busySilenceMs - 1,
    outstanding: true,
  }),
  'unanswered, outstanding, silent': unanswered({ silentMs: busySilenceMs, outstanding: true }),
  'unanswered, no facts': unanswered(),
  'no server': { verdict: 'unreachable', cause: 'unreachable', unreachableMs: BUDGET.windowMs - 1 },
  'no server, for the window': {
    verdict: 'unreachable',
    cause: 'unreachable',
    unreachableMs: BUDGET.windowMs,
  },
} as const satisfies Record<string, ProbeOutcome>;

const ENDINGS = {
  retire: {
    retired: { done: undefined },
    'retiring failed': { failed: FAILURES['retiring failed'] },
    'retiring failed for good': { failed: FAILURES['retiring failed for good'] },
  },
  open: {
    opened: { done: undefined },
    'open failed': { failed: FAILURES['open failed'] },
    'open failed, and the server asks to wait': {
      failed: FAILURES['open failed, and the server asks to wait'],
    },
    'open failed, and the server asks for too long a wait': {
      failed: FAILURES['open failed, and the server asks for too long a wait'],
    },
    'open failed, unauthorized': { failed: FAILURES['open failed, unauthorized'] },
    'open failed for good': { failed: FAILURES['open failed for good'] },
  },
  // It says `verified` or `unverified`, and does not end by itself.
  verify: {},
  probe: {
    ...done(PROBE_OUTCOMES),
    'probe could not be sent': { failed: new Error('not sent') },
  },
  shutdown: {
    'shut down': { done: undefined },
    'shutdown failed': { failed: new Error('a close that failed') },
  },
} as const satisfies Record<ActorNames<Machine>, Record<string, Ending>>;

const DELAYS = {
  'after backoff': 'backoff',
  'after window': 'window',
  'after firstReady': 'firstReady',
  'after stable': 'stable',
  'after coolDown': 'coolDown',
  'after probeDistance': 'probeDistance',
  'after nextAttempt': 'nextAttempt',
} as const satisfies Record<`after ${DelayNames<Machine>}`, DelayNames<Machine>>;

type KeysWithin<T> = { [K in keyof T]: keyof T[K] }[keyof T];

export type SentEventName = KeysWithin<typeof SENT>;
export type ConnectionEventName = SentEventName | KeysWithin<typeof ENDINGS> | keyof typeof DELAYS;

export const SENT_EVENTS = Object.assign({}, ...Object.values(SENT)) as Record<
  SentEventName,
  (context: ConnectionContext) => ConnectionEvent
>;

const KINDS: Readonly<Record<OperationKind, true>> = {
  discovery: true,
  liveness: true,
  tool: true,
  prompt: true,
  resource: true,
  completion: true,
  logging: true,
  subscription: true,
  task: true,
  other: true,
};

export const OPERATION_KINDS = Object.keys(KINDS) as OperationKind[];
export const REPLAY_POLICIES = Object.keys(POLICIES) as ReplayPolicy[];

export const CONNECTION_FIXTURES = {
  ...mapValues(
    SENT_EVENTS,
    (make) =>
      ({ context }: Snapshot) =>
        make(context),
  ),
  ...Object.assign(
    {},
    ...Object.entries(ENDINGS).map(([actor, endings]) =>
      mapValues(endings, (ending: Ending) => (snapshot: Snapshot) => endingEvent(snapshot, actor, ending)),
    ),
  ),
  ...mapValues(DELAYS, (delay) => (snapshot: Snapshot) => delayEvent(snapshot, delay)),
} as unknown as Fixtures<Machine> &
  Record<ConnectionEventName, (snapshot: Snapshot) => EventFromLogic<Machine> | undefined>;

/** Demands of each kind of operation, for the searches that take every kind into account. */
export const DEMANDS_OF_EVERY_KIND: Fixtures<Machine> = Object.fromEntries(
  OPERATION_KINDS.flatMap((kind) =>
    Object.entries(demands(kind)).map(([name, make]) => [
      `${name}, ${kind}`,
      ({ context }: Snapshot) => make(context),
    ]),
  ),
);

function done<T>(outputs: T): { [K in keyof T]: { done: T[K] } } {
  return mapValues(outputs as Record<string, unknown>, (output) => ({ done: output })) as never;
}

function mapValues<V, W>(record: Record<string, V>, change: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
