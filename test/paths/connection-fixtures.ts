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
  StrickenOperation,
} from '../../machines/connection.machine.ts';
import type { Cause, OperationKind, ReplayPolicy } from '../../machines/vocabulary.ts';
import type { Fixtures } from './graph.ts';
import { type ActorNames, type DelayNames, delayEvent, type Ending, endingEvent } from './machine-events.ts';

type Machine = typeof connectionMachine;
type Snapshot = SnapshotFrom<Machine>;
type Sent<T extends ConnectionEvent['type']> = (
  context: ConnectionContext,
) => Extract<ConnectionEvent, { type: T }>;

const lost =
  (stricken: StrickenOperation | null, generationsAway = 0): Sent<'lost'> =>
  ({ generation }) => ({
    type: 'lost',
    generation: generation + generationsAway,
    cause: 'session-unknown',
    stricken,
  });

const suspected =
  (cause: Cause, busy = false, generationsAway = 0): Sent<'suspected'> =>
  ({ generation }) => ({ type: 'suspected', generation: generation + generationsAway, cause, busy });

const stricken = (
  policy: StrickenOperation['policy'],
  execution: StrickenOperation['execution'],
): StrickenOperation => ({ kind: 'tool', policy, execution });

const SENT = {
  demand: { demand: () => ({ type: 'demand' }) },
  reconnect: { reconnect: () => ({ type: 'reconnect' }) },
  lost: {
    lost: lost(null),
    'lost, stricken safe, not run': lost(stricken('safe', 'none')),
    'lost, stricken safe, may have run': lost(stricken('safe', 'unknown')),
    'lost, stricken if-unsent, not run': lost(stricken('if-unsent', 'none')),
    'lost, stricken if-unsent, may have run': lost(stricken('if-unsent', 'unknown')),
    'lost, stricken never, not run': lost(stricken('never', 'none')),
    'lost, stricken never, may have run': lost(stricken('never', 'unknown')),
    'lost, of the generation before': lost(stricken('safe', 'none'), -1),
    'lost, of a generation to come': lost(stricken('safe', 'none'), 1),
  },
  suspected: {
    'suspected, deaf': suspected('deaf'),
    'suspected, deaf while busy': suspected('deaf', true),
    'suspected, timeout': suspected('timeout'),
    'suspected, timeout while busy': suspected('timeout', true),
    'suspected, heartbeat': suspected('heartbeat'),
    'suspected, heartbeat while busy': suspected('heartbeat', true),
    'suspected, of the generation before': suspected('deaf', false, -1),
    'suspected, of a generation to come': suspected('deaf', false, 1),
  },
  replaced: { replaced: () => ({ type: 'replaced' }) },
  verified: { verified: () => ({ type: 'verified' }) },
  unverified: { unverified: () => ({ type: 'unverified' }) },
  close: { close: () => ({ type: 'close' }) },
} as const satisfies { [T in ConnectionEvent['type']]: Record<string, Sent<T>> };

export const OPEN_FAILURES = {
  'open failed': { cause: 'unreachable', permanent: false, retryAfterMs: 0 },
  'open failed, and the server asks to wait': { cause: 'http-error', permanent: false, retryAfterMs: 7_000 },
  'open failed for good': { cause: 'unauthorized', permanent: true, retryAfterMs: 0 },
} as const satisfies Record<string, OpenFailure>;

export const PROBE_OUTCOMES = {
  'probe answered': { verdict: 'usable', cause: 'deaf' },
  'probe unanswered': { verdict: 'unanswered', cause: 'timeout' },
  'probe unanswered while busy': { verdict: 'busy', cause: 'timeout' },
  'probe lost': { verdict: 'lost', cause: 'session-unknown' },
} as const satisfies Record<string, ProbeOutcome>;

const ENDINGS = {
  open: {
    opened: { done: undefined },
    ...failed(OPEN_FAILURES),
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
  'after stable': 'stable',
  'after coolDown': 'coolDown',
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
export const REPLAY_POLICIES: readonly ReplayPolicy[] = ['safe', 'if-unsent', 'never'];

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

/** A loss that strikes an operation of each kind, for the searches that take every kind into account. */
export const STRICKEN_OF_EVERY_KIND: Fixtures<Machine> = Object.fromEntries(
  OPERATION_KINDS.flatMap((kind) =>
    REPLAY_POLICIES.flatMap((policy) =>
      (['none', 'unknown'] as const).map((execution) => [
        `lost, stricken ${kind} ${policy}, execution ${execution}`,
        ({ context }: Snapshot) => lost({ kind, policy, execution })(context),
      ]),
    ),
  ),
);

function done<T>(outputs: T): { [K in keyof T]: { done: T[K] } } {
  return mapValues(outputs as Record<string, unknown>, (output) => ({ done: output })) as never;
}

function failed<T>(errors: T): { [K in keyof T]: { failed: T[K] } } {
  return mapValues(errors as Record<string, unknown>, (error) => ({ failed: error })) as never;
}

function mapValues<V, W>(record: Record<string, V>, change: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
