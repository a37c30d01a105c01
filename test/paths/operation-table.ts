/**
 * The legal transitions of the operation machine, written by hand: the oracle of every path test. What is not here
 * is illegal: ignored, nothing sent, nothing changed. The kind of an operation is not here either: it makes no
 * difference.
 *
 * Nothing here may be read from the machine.
 */
import type { Unavailability } from '../../machines/operation.machine.ts';
import type { Cause, Evidence } from '../../machines/vocabulary.ts';
import type { OperationEventName } from './operation-fixtures.ts';

export type OperationStateName =
  | 'confirming'
  | 'awaiting'
  | 'sending'
  | 'answered'
  | 'passed-through'
  | 'refused'
  | 'unknown-outcome'
  | 'unavailable'
  | 'cancelled'
  | 'timed-out';

/** What the caller of an operation gets in the end. */
export type CallerGets =
  | 'the answer'
  | "the SDK's own error, untouched"
  | "its own abort, in the raw SDK's shape"
  | 'CallerOwnedConnectionLostError'
  | 'OutcomeUnknownError'
  | 'ConnectionUnavailableError'
  | 'ConnectionClosedError';

/** What can be seen of a state from outside. A state that neither asks nor ends does not exist: `judging` is left at once. */
export type StateFacts =
  /** Once, on entering: `demand` wants the connection, `proof` the outcome of its probe, `send` a send. */
  | { readonly asks: 'demand' | 'proof' | 'send' }
  /** It is over. */
  | { readonly callerGets: CallerGets | Readonly<Record<Unavailability, CallerGets>> };

export const OPERATION_STATES: Readonly<Record<OperationStateName, StateFacts>> = {
  confirming: { asks: 'proof' },
  awaiting: { asks: 'demand' },
  sending: { asks: 'send' },
  answered: { callerGets: 'the answer' },
  'passed-through': { callerGets: "the SDK's own error, untouched" },
  refused: { callerGets: 'CallerOwnedConnectionLostError' },
  'unknown-outcome': { callerGets: 'OutcomeUnknownError' },
  unavailable: {
    callerGets: {
      'not-waiting': 'ConnectionUnavailableError',
      'queue-full': 'ConnectionUnavailableError',
      'budget-spent': 'ConnectionUnavailableError',
      'server-missing': 'ConnectionUnavailableError',
      'retry-after': 'ConnectionUnavailableError',
      'sends-spent': 'ConnectionUnavailableError',
      policy: 'ConnectionUnavailableError',
      closed: 'ConnectionClosedError',
    },
  },
  cancelled: { callerGets: "its own abort, in the raw SDK's shape" },
  'timed-out': { callerGets: 'ConnectionUnavailableError' },
};

/**
 * What a failure means for its operation. `stricken`: it lost its answer, or was turned away, by a connection that may
 * be gone. `a gateway's`: it may have run, and nothing is said against the connection. `a probe tells`: the answer means
 * a forgotten session, or another server, in some places, and an ordinary error in others.
 */
export type Meaning = 'no loss' | "a gateway's" | 'a probe tells' | 'stricken' | 'lost';

/** Where the connection is not blamed, only a gateway's failure leaves open what became of the operation. */
export function meaningOf({ connection, cause }: Evidence): Meaning {
  switch (connection) {
    case 'usable':
      return cause === 'gateway-error' ? "a gateway's" : 'no loss';
    case 'suspect':
      return OF_A_SUSPECT[cause];
    case 'lost':
      return 'lost';
  }
}

const OF_A_SUSPECT: Readonly<Record<Cause, Meaning>> = {
  'session-unknown': 'stricken',
  'session-rejected': 'a probe tells',
  'session-error': 'a probe tells',
  unreachable: 'stricken',
  'not-connected': 'stricken',
  unwritten: 'no loss',
  'connection-closed': 'stricken',
  'stream-ended': 'no loss',
  'request-cut': 'stricken',
  'answer-lost': 'stricken',
  timeout: 'no loss',
  heartbeat: 'no loss',
  'host-slept': 'no loss',
  deaf: 'no loss',
  aborted: 'no loss',
  unauthorized: 'no loss',
  'authorization-required': 'no loss',
  'authorization-unavailable': 'no loss',
  'http-refused': 'a probe tells',
  'http-error': 'no loss',
  'gateway-error': 'no loss',
  'version-changed': 'stricken',
  incompatible: 'no loss',
  redirected: 'no loss',
  'malformed-answer': 'no loss',
  'rpc-error': 'no loss',
  unsupported: 'no loss',
  unrecognised: 'no loss',
  replaced: 'no loss',
  requested: 'no loss',
  'not-ended': 'no loss',
  closed: 'no loss',
};

/** Every event that is not a failure, under the name that the tables print. What failed is told by its meaning. */
export const PLAIN_EVENTS = [
  'usable',
  'lost',
  'unavailable, budget spent',
  'unavailable, server missing',
  'unavailable, retry after',
  'unavailable, closed',
  'refused',
  'answered',
  'deadline',
  'abort',
] as const satisfies readonly OperationEventName[];

export type EventGroup = (typeof PLAIN_EVENTS)[number] | `failed: ${Meaning}` | 'never sent';

/**
 * `not run`: proven of every send. `unanswered`: not run, or unknown. `a send left`: it was sent less than twice.
 * `overdue`: its deadline passed while a send was under way. `waits`, `not-waiting`, `queue-full`: its admission.
 */
export type Condition =
  | 'waits'
  | 'not-waiting'
  | 'queue-full'
  | 'safe, unanswered, a send left'
  | 'if-unsent, not run, a send left'
  | 'overdue, safe, unanswered, a send left'
  | 'overdue, if-unsent, not run, a send left'
  | 'never, not run'
  | 'not run';

export interface Row {
  /** `judging`: where it begins, failed or never sent. It stays nowhere until it was judged. */
  readonly from: OperationStateName | 'judging';
  /** On an owned connection, on a caller-owned one, or on either. */
  readonly whose: 'own' | 'lent' | 'any';
  readonly on: EventGroup;
  /** Where rows have the same beginning, the first whose condition holds. */
  readonly when?: Condition;
  readonly to: OperationStateName;
  /** Of one that becomes unavailable. */
  readonly why?: Unavailability;
}

type Rest = Pick<Row, 'whose' | 'on' | 'to'> & Partial<Row>;

const from = (state: Row['from'], ...rows: Rest[]): Row[] => rows.map((row) => ({ from: state, ...row }));

/** The rule of replay: on an owned connection, and sent twice at most. */
const replay = (on: EventGroup): Rest[] => [
  { whose: 'own', on, when: 'safe, unanswered, a send left', to: 'awaiting' },
  { whose: 'own', on, when: 'if-unsent, not run, a send left', to: 'awaiting' },
  { whose: 'own', on, when: 'never, not run', to: 'unavailable', why: 'policy' },
  { whose: 'own', on, when: 'not run', to: 'unavailable', why: 'sends-spent' },
  { whose: 'own', on, to: 'unknown-outcome' },
];

const replayInTime = (on: EventGroup): Rest[] => [
  { whose: 'own', on, when: 'overdue, safe, unanswered, a send left', to: 'timed-out' },
  { whose: 'own', on, when: 'overdue, if-unsent, not run, a send left', to: 'timed-out' },
  ...replay(on),
];

const failures = (rule: (on: EventGroup) => Rest[]): Rest[] => [
  { whose: 'any', on: 'failed: no loss', to: 'passed-through' },
  { whose: 'lent', on: "failed: a gateway's", to: 'passed-through' },
  ...rule("failed: a gateway's"),
  { whose: 'any', on: 'failed: a probe tells', to: 'confirming' },
  { whose: 'lent', on: 'failed: stricken', to: 'confirming' },
  ...rule('failed: stricken'),
  { whose: 'lent', on: 'failed: lost', to: 'refused' },
  ...rule('failed: lost'),
];

const aborts = { whose: 'any', on: 'abort', to: 'cancelled' } as const;

export const OPERATION_ROWS: readonly Row[] = [
  ...from(
    'judging',
    { whose: 'any', on: 'never sent', when: 'waits', to: 'awaiting' },
    { whose: 'any', on: 'never sent', when: 'not-waiting', to: 'unavailable', why: 'not-waiting' },
    { whose: 'any', on: 'never sent', when: 'queue-full', to: 'unavailable', why: 'queue-full' },
    ...failures(replay),
  ),
  ...from(
    'confirming',
    { whose: 'any', on: 'usable', to: 'passed-through' },
    { whose: 'lent', on: 'lost', to: 'refused' },
    ...replayInTime('lost'),
    { whose: 'any', on: 'deadline', to: 'passed-through' },
    aborts,
  ),
  ...from(
    'awaiting',
    { whose: 'any', on: 'usable', to: 'sending' },
    { whose: 'any', on: 'unavailable, budget spent', to: 'unavailable', why: 'budget-spent' },
    { whose: 'any', on: 'unavailable, server missing', to: 'unavailable', why: 'server-missing' },
    { whose: 'any', on: 'unavailable, retry after', to: 'unavailable', why: 'retry-after' },
    { whose: 'any', on: 'unavailable, closed', to: 'unavailable', why: 'closed' },
    { whose: 'any', on: 'refused', to: 'refused' },
    { whose: 'any', on: 'deadline', to: 'timed-out' },
    aborts,
  ),
  ...from(
    'sending',
    { whose: 'any', on: 'answered', to: 'answered' },
    ...failures(replayInTime),
    // Noted: while a send is under way, the SDK's own timer keeps the deadline.
    { whose: 'any', on: 'deadline', to: 'sending' },
    aborts,
  ),
];
