/**
 * The legal transitions of the connection machine, written by hand: the oracle of every path test. What is not here
 * is illegal: ignored, nothing sent, nothing changed. The table in the machine's head and the one in docs/ are
 * printed from these rows (table-text.ts), and a test compares them.
 *
 * Nothing here may be read from the machine.
 */
import type { EventGroup } from './connection-events.ts';

export type ConnectionStateName =
  | 'idle'
  | 'connecting.opening'
  | 'connecting.backingOff'
  | 'connecting.checking'
  | 'ready.steady'
  | 'ready.probing'
  | 'ready.suspect'
  | 'ready.unreachable'
  | 'lost'
  | 'recreating.backingOff'
  | 'recreating.retiring'
  | 'recreating.opening'
  | 'failed-ownership'
  | 'exhausted.cooling'
  | 'exhausted.cooled'
  | 'exhausted.signedOut'
  | 'closing'
  | 'closed';

/** What can be seen of a state from outside, for as long as it lasts. */
export interface StateFacts {
  /** The one thing that is under way. */
  readonly runs?: 'retirement' | 'dial' | 'check' | 'probe' | 'shutdown';
  /**
   * Which delays are running. `stable`, `firstReady`, and `window` while connecting, pass once, and may be over; so
   * does `coolDown` where nothing follows from it.
   */
  readonly delays: readonly (
    | 'stable'
    | 'window'
    | 'firstReady'
    | 'backoff'
    | 'coolDown'
    | 'probeDistance'
    | 'nextAttempt'
  )[];
  /** What becomes of a call that arrives, or waits, here. */
  readonly calls:
    | 'are sent'
    | 'wait'
    | 'CallerOwnedConnectionLostError'
    | 'ConnectionUnavailableError'
    | 'ConnectionClosedError';
}

export const CONNECTION_STATES: Readonly<Record<ConnectionStateName, StateFacts>> = {
  idle: { delays: [], calls: 'wait' },
  'connecting.opening': { runs: 'dial', delays: ['window', 'firstReady'], calls: 'wait' },
  'connecting.backingOff': { delays: ['window', 'firstReady', 'backoff'], calls: 'wait' },
  'connecting.checking': { runs: 'check', delays: ['window', 'firstReady'], calls: 'wait' },
  'ready.steady': { delays: ['stable'], calls: 'are sent' },
  'ready.probing': { runs: 'probe', delays: ['stable'], calls: 'are sent' },
  'ready.suspect': { delays: ['stable', 'probeDistance'], calls: 'are sent' },
  'ready.unreachable': { delays: ['stable', 'nextAttempt'], calls: 'wait' },
  lost: { delays: [], calls: 'wait' },
  'recreating.backingOff': { delays: ['window', 'backoff'], calls: 'wait' },
  'recreating.retiring': { runs: 'retirement', delays: ['window'], calls: 'wait' },
  'recreating.opening': { runs: 'dial', delays: ['window'], calls: 'wait' },
  'failed-ownership': { delays: [], calls: 'CallerOwnedConnectionLostError' },
  'exhausted.cooling': { delays: ['coolDown'], calls: 'ConnectionUnavailableError' },
  'exhausted.cooled': { delays: [], calls: 'wait' },
  'exhausted.signedOut': { delays: ['coolDown'], calls: 'ConnectionUnavailableError' },
  closing: { runs: 'shutdown', delays: [], calls: 'ConnectionClosedError' },
  closed: { delays: [], calls: 'ConnectionClosedError' },
};

/**
 * Several words hold together.
 * `unsent`, or a policy and what is known of the execution: the operation that demands, if it may be sent (again).
 * `eager`, `on demand`: when the connection is recreated. `was ready`, `never ready`: in any generation.
 * `budget left`: fewer than `maxAttempts` dials count since they were given back. `no wait`: none of them yet, and the
 * server did not ask to wait; it is a child of ours, or has just said that it does not know the session.
 * `unwanted`: eager, and no operation has demanded this recreation: what answers have given back does not count for
 * it. `no failure`: no dial has failed yet. `once`: in each stay. `signs in`: the host gave an `authProvider`.
 * `missed`: with this one, `missedProbes` unanswered probes in a row. `slept`: the probe is about that.
 */
export type Condition = string;

export interface Row {
  /** `ready`: any of its four. `(open)`: every state but closing and closed. */
  readonly from: ConnectionStateName | 'ready' | '(open)';
  /** Of an owned connection, of a caller-owned one, or of either. */
  readonly whose: 'own' | 'lent' | 'any';
  readonly on: EventGroup;
  /** Where rows have the same beginning, the first whose condition holds. */
  readonly when?: Condition;
  readonly to: ConnectionStateName;
  /** What the server sees of the old generation, where it has a session: is it told with a DELETE? */
  readonly ends?: 'with DELETE';
  /** It stays where it is, and what runs there begins anew. */
  readonly anew?: true;
}

type Rest = Omit<Row, 'from'>;

const from = (state: Row['from'], ...rows: Rest[]): Row[] => rows.map((row) => ({ from: state, ...row }));

/** The rule of replay, and the limit of every demand: it is an owned connection's. */
const SENDABLE = ['unsent', 'safe, unanswered', 'if-unsent, not run'] as const;

const demands = (to: ConnectionStateName, when?: string): Rest[] =>
  SENDABLE.map((operation) => ({
    whose: 'own',
    on: 'demand',
    when: when === undefined ? operation : `${operation}, ${when}`,
    to,
  }));

/** A loss of an owned connection, as it is decided at once in `lost`. */
const ownLoss = (on: EventGroup, proof = ''): Rest[] => [
  { whose: 'own', on, when: `${proof}on demand`, to: 'lost' },
  { whose: 'own', on, when: `${proof}eager, budget left`, to: 'recreating.backingOff' },
  { whose: 'own', on, when: `${proof}eager, budget spent`, to: 'exhausted.cooling' },
];

const loss = (on: EventGroup): Rest[] => [...ownLoss(on), { whose: 'lent', on, to: 'failed-ownership' }];

const dialFails = (again: ConnectionStateName): Rest[] => [
  { whose: 'own', on: 'open failed', when: 'budget left', to: again },
  { whose: 'own', on: 'open failed', when: 'budget spent', to: 'exhausted.cooling' },
  { whose: 'own', on: 'open failed, unauthorized', when: 'signs in', to: 'exhausted.signedOut' },
  { whose: 'own', on: 'open failed, unauthorized', to: 'exhausted.cooling' },
  { whose: 'own', on: 'open failed for good', to: 'exhausted.cooling' },
];

const retiring = { whose: 'own', on: 'reconnect', to: 'recreating.retiring' } as const;
const opening = { whose: 'own', on: 'reconnect', to: 'connecting.opening' } as const;
const replaces = { whose: 'lent', on: 'replaced', to: 'connecting.checking' } as const;
const windowPasses = { whose: 'own', on: 'after window', to: 'exhausted.cooling' } as const;
const triesAgain = (on: EventGroup, when = ''): Rest[] => [
  { whose: 'own', on, when: `${when}was ready`, to: 'recreating.retiring' },
  { whose: 'own', on, when: `${when}never ready`, to: 'connecting.opening' },
];
const reconnectsAsEver: Rest[] = [...triesAgain('reconnect'), ...triesAgain('authorized')];
const firstReadyPasses = { on: 'after firstReady', when: 'once' } as const;
const isAnswered = { whose: 'own', on: 'answered' } as const;

export const CONNECTION_ROWS: readonly Row[] = [
  ...from('idle', ...demands('connecting.opening'), opening),
  ...from(
    'connecting.opening',
    { whose: 'own', on: 'opened', to: 'ready.steady' },
    ...dialFails('connecting.backingOff'),
    // It may have to download its package.
    { ...windowPasses, when: 'once, no failure', to: 'connecting.opening' },
    { ...windowPasses, when: 'once' },
    { ...firstReadyPasses, whose: 'own', to: 'connecting.opening' },
  ),
  ...from(
    'connecting.backingOff',
    { whose: 'own', on: 'after backoff', to: 'connecting.opening' },
    opening,
    { ...windowPasses, when: 'once' },
    { ...firstReadyPasses, whose: 'own', to: 'connecting.backingOff' },
  ),
  ...from(
    'connecting.checking',
    { whose: 'lent', on: 'verified', to: 'ready.steady' },
    { whose: 'lent', on: 'unverified', to: 'failed-ownership' },
    { whose: 'lent', on: 'after window', when: 'once', to: 'connecting.checking' },
    { ...firstReadyPasses, whose: 'lent', to: 'connecting.checking' },
  ),
  ...from(
    'ready.steady',
    { whose: 'any', on: 'suspected, by silence', to: 'ready.probing' },
    { whose: 'any', on: 'suspected, by more', to: 'ready.probing' },
    { whose: 'any', on: 'suspected, the host slept', to: 'ready.probing' },
    { whose: 'any', on: 'after stable', when: 'once', to: 'ready.steady' },
    { ...isAnswered, to: 'ready.steady' },
  ),
  ...from(
    'ready.probing',
    { whose: 'any', on: 'suspected, the host slept', to: 'ready.probing', anew: true },
    { whose: 'any', on: 'after stable', when: 'once', to: 'ready.probing' },
    { ...isAnswered, to: 'ready.probing' },
    { whose: 'any', on: 'probe answered', to: 'ready.steady' },
    { whose: 'any', on: 'probe could not be sent', to: 'ready.steady' },
    ...loss('probe lost'),
    // Without a session: it is lost when the window is over, and what belongs to its caller never is.
    ...ownLoss('no server, for the window'),
    { whose: 'own', on: 'no server', to: 'ready.unreachable' },
    { whose: 'lent', on: 'no server', to: 'ready.steady' },
    { whose: 'lent', on: 'no server, for the window', to: 'ready.steady' },
    ...ownLoss('unanswered, idle', 'slept, '),
    ...ownLoss('unanswered, idle, silent', 'slept, '),
    ...ownLoss('unanswered, idle, silent', 'missed, '),
    ...ownLoss('unanswered, busy, silent', 'missed, '),
    { whose: 'any', on: 'unanswered, idle', to: 'ready.suspect' },
    { whose: 'any', on: 'unanswered, idle, silent', to: 'ready.suspect' },
    { whose: 'any', on: 'unanswered, busy', to: 'ready.suspect' },
    { whose: 'any', on: 'unanswered, busy, silent', to: 'ready.suspect' },
  ),
  ...from(
    'ready.suspect',
    { whose: 'any', on: 'heard', to: 'ready.steady' },
    { whose: 'any', on: 'suspected, by more', to: 'ready.probing' },
    { whose: 'any', on: 'suspected, the host slept', to: 'ready.probing' },
    { whose: 'any', on: 'after probeDistance', to: 'ready.probing' },
    { whose: 'any', on: 'after stable', when: 'once', to: 'ready.suspect' },
    { ...isAnswered, to: 'ready.suspect' },
  ),
  ...from(
    'ready.unreachable',
    { whose: 'any', on: 'heard', to: 'ready.steady' },
    { whose: 'any', on: 'suspected, the host slept', to: 'ready.probing' },
    { whose: 'any', on: 'after nextAttempt', to: 'ready.probing' },
    { whose: 'any', on: 'after stable', when: 'once', to: 'ready.unreachable' },
    { ...isAnswered, to: 'ready.unreachable' },
  ),
  ...from('ready', ...loss('lost'), { ...retiring, ends: 'with DELETE' }, replaces, {
    whose: 'any',
    on: 'close',
    to: 'closing',
    ends: 'with DELETE',
  }),
  ...from(
    'lost',
    ...demands('recreating.retiring', 'no wait'),
    ...demands('recreating.backingOff', 'budget left'),
    ...demands('exhausted.cooling', 'budget spent'),
    retiring,
  ),
  ...from(
    'recreating.backingOff',
    { whose: 'own', on: 'after backoff', to: 'recreating.retiring' },
    ...demands('recreating.retiring', 'unwanted, no wait'),
    ...demands('recreating.backingOff', 'unwanted').map((row) => ({ ...row, anew: true }) as const),
    windowPasses,
    retiring,
  ),
  ...from(
    'recreating.retiring',
    { whose: 'own', on: 'retired', to: 'recreating.opening' },
    { whose: 'own', on: 'retiring failed', when: 'budget left', to: 'recreating.backingOff' },
    { whose: 'own', on: 'retiring failed', when: 'budget spent', to: 'exhausted.cooling' },
    { whose: 'own', on: 'retiring failed for good', to: 'exhausted.cooling' },
    ...demands('recreating.retiring', 'unwanted'),
    windowPasses,
  ),
  ...from(
    'recreating.opening',
    { whose: 'own', on: 'opened', to: 'ready.steady' },
    ...dialFails('recreating.backingOff'),
    ...demands('recreating.opening', 'unwanted'),
    windowPasses,
  ),
  ...from('failed-ownership', replaces),
  ...from(
    'exhausted.cooling',
    { whose: 'own', on: 'after coolDown', when: 'on demand', to: 'exhausted.cooled' },
    ...triesAgain('after coolDown', 'eager, '),
    ...reconnectsAsEver,
  ),
  ...from(
    'exhausted.cooled',
    ...demands('recreating.retiring', 'was ready'),
    ...demands('connecting.opening', 'never ready'),
    ...reconnectsAsEver,
  ),
  ...from(
    'exhausted.signedOut',
    // Its tokens are read.
    { whose: 'own', on: 'after coolDown', when: 'eager', to: 'exhausted.signedOut', anew: true },
    { whose: 'own', on: 'after coolDown', when: 'once', to: 'exhausted.signedOut' },
    ...reconnectsAsEver,
  ),
  ...from('(open)', { whose: 'any', on: 'close', to: 'closing' }),
  ...from('closing', { whose: 'any', on: 'shut down', to: 'closed' }),
];

/** Does this row speak of this state? */
export function isFrom({ from: start }: Row, state: ConnectionStateName): boolean {
  if (start === '(open)') return state !== 'closing' && state !== 'closed';
  return start === state || (start === 'ready' && state.startsWith('ready.'));
}
