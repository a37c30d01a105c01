/**
 * The legal transitions of the connection machine, written by hand: the oracle of every path test. What is not here
 * is illegal: ignored, nothing sent, nothing changed. The table in the machine's head and the one in docs/ are
 * printed from these rows (table-text.ts), and a test compares them.
 *
 * Nothing here may be read from the machine.
 */
import type { ConnectionEventName } from './connection-fixtures.ts';

export type ConnectionStateName =
  | 'idle'
  | 'connecting.opening'
  | 'connecting.checking'
  | 'ready.steady'
  | 'ready.probing'
  | 'lost'
  | 'recreating.backingOff'
  | 'recreating.opening'
  | 'failed-ownership'
  | 'exhausted.cooling'
  | 'exhausted.cooled'
  | 'closing'
  | 'closed';

/** What can be seen of a state from outside, for as long as it lasts. */
export interface StateFacts {
  /** The one thing that is under way. */
  readonly runs?: 'dial' | 'check' | 'probe' | 'shutdown';
  /** Which delays are running. `stable` passes once, and may be over. */
  readonly delays: readonly ('stable' | 'window' | 'backoff' | 'coolDown')[];
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
  'connecting.opening': { runs: 'dial', delays: [], calls: 'wait' },
  'connecting.checking': { runs: 'check', delays: [], calls: 'wait' },
  'ready.steady': { delays: ['stable'], calls: 'are sent' },
  'ready.probing': { runs: 'probe', delays: ['stable'], calls: 'are sent' },
  lost: { delays: [], calls: 'wait' },
  'recreating.backingOff': { delays: ['window', 'backoff'], calls: 'wait' },
  'recreating.opening': { runs: 'dial', delays: ['window'], calls: 'wait' },
  'failed-ownership': { delays: [], calls: 'CallerOwnedConnectionLostError' },
  'exhausted.cooling': { delays: ['coolDown'], calls: 'ConnectionUnavailableError' },
  'exhausted.cooled': { delays: [], calls: 'wait' },
  closing: { runs: 'shutdown', delays: [], calls: 'ConnectionClosedError' },
  closed: { delays: [], calls: 'ConnectionClosedError' },
};

/** Events that mean the same to the machine, under the name that the tables print. */
export const EVENT_GROUPS = {
  demand: ['demand'],
  reconnect: ['reconnect'],
  'lost (current generation)': [
    'lost',
    'lost, stricken safe, not run',
    'lost, stricken safe, may have run',
    'lost, stricken if-unsent, not run',
    'lost, stricken if-unsent, may have run',
    'lost, stricken never, not run',
    'lost, stricken never, may have run',
  ],
  'suspected, and worth a probe': [
    'suspected, deaf',
    'suspected, deaf while busy',
    'suspected, timeout',
    'suspected, heartbeat',
  ],
  'suspected, and no more than busy': ['suspected, timeout while busy', 'suspected, heartbeat while busy'],
  'report of another generation': [
    'lost, of the generation before',
    'lost, of a generation to come',
    'suspected, of the generation before',
    'suspected, of a generation to come',
  ],
  'probe answered': ['probe answered', 'probe unanswered while busy'],
  'probe unanswered': ['probe unanswered'],
  'probe lost': ['probe lost'],
  'probe could not be sent': ['probe could not be sent'],
  opened: ['opened'],
  'open failed': ['open failed', 'open failed, and the server asks to wait'],
  'open failed for good': ['open failed for good'],
  verified: ['verified'],
  unverified: ['unverified'],
  replaced: ['replaced'],
  close: ['close'],
  'shut down': ['shut down', 'shutdown failed'],
  'after backoff': ['after backoff'],
  'after window': ['after window'],
  'after stable': ['after stable'],
  'after coolDown': ['after coolDown'],
} as const satisfies Record<string, readonly ConnectionEventName[]>;

export type EventGroup = keyof typeof EVENT_GROUPS;

/**
 * `wanted`: the connection is eager, an operation waits for it, or the stricken one may be sent again.
 * `budget left`: fewer than `maxAttempts` dials since they were given back. `no wait`: none of them yet, and the
 * server did not ask to wait. `once`: in each life of a generation. `tolerated`: a heartbeat, and fewer than `missedHeartbeats` were missed in a row.
 */
export type Condition =
  | 'once'
  | 'unwanted'
  | 'wanted, no wait'
  | 'wanted, budget left'
  | 'wanted, budget spent'
  | 'no wait'
  | 'budget left'
  | 'budget spent'
  | 'tolerated'
  | 'not tolerated, unwanted'
  | 'not tolerated, wanted, no wait'
  | 'not tolerated, wanted, budget left'
  | 'not tolerated, wanted, budget spent'
  | 'not tolerated';

export interface Row {
  /** `ready`: either of its two. `(open)`: every state but closing and closed. */
  readonly from: ConnectionStateName | 'ready' | '(open)';
  /** Of an owned connection, of a caller-owned one, or of either. */
  readonly whose: 'own' | 'lent' | 'any';
  readonly on: EventGroup;
  /** Where rows have the same beginning, the first whose condition holds. */
  readonly when?: Condition;
  readonly to: ConnectionStateName;
  /** What the server sees of the old generation, where it has a session: is it told with a DELETE? */
  readonly ends?: 'with DELETE' | 'without DELETE';
}

type Rest = Pick<Row, 'whose' | 'on' | 'to'> & Partial<Row>;

const from = (state: Row['from'], ...rows: Rest[]): Row[] => rows.map((row) => ({ from: state, ...row }));

/** A loss, as it is decided at once in `lost`. */
const loss = (on: EventGroup, prefix: '' | 'not tolerated, ' = ''): Rest[] => [
  { whose: 'own', on, when: `${prefix}unwanted`, to: 'lost' },
  { whose: 'own', on, when: `${prefix}wanted, no wait`, to: 'recreating.opening' },
  { whose: 'own', on, when: `${prefix}wanted, budget left`, to: 'recreating.backingOff' },
  { whose: 'own', on, when: `${prefix}wanted, budget spent`, to: 'exhausted.cooling' },
  { whose: 'lent', on, ...(prefix === '' ? {} : { when: 'not tolerated' as const }), to: 'failed-ownership' },
];

const reconnects = { whose: 'own', on: 'reconnect', to: 'recreating.opening' } as const;
const replaces = { whose: 'lent', on: 'replaced', to: 'connecting.checking' } as const;

export const CONNECTION_ROWS: readonly Row[] = [
  ...from(
    'idle',
    { whose: 'own', on: 'demand', to: 'connecting.opening' },
    { whose: 'own', on: 'reconnect', to: 'connecting.opening' },
  ),
  ...from(
    'connecting.opening',
    { whose: 'own', on: 'opened', to: 'ready.steady' },
    { whose: 'own', on: 'open failed', when: 'budget left', to: 'recreating.backingOff' },
    { whose: 'own', on: 'open failed', when: 'budget spent', to: 'exhausted.cooling' },
    { whose: 'own', on: 'open failed for good', to: 'exhausted.cooling' },
  ),
  ...from(
    'connecting.checking',
    { whose: 'lent', on: 'verified', to: 'ready.steady' },
    { whose: 'lent', on: 'unverified', to: 'failed-ownership' },
  ),
  ...from(
    'ready.steady',
    { whose: 'any', on: 'suspected, and worth a probe', to: 'ready.probing' },
    { whose: 'any', on: 'after stable', when: 'once', to: 'ready.steady' },
  ),
  ...from(
    'ready.probing',
    { whose: 'any', on: 'demand', to: 'ready.probing' },
    { whose: 'any', on: 'after stable', when: 'once', to: 'ready.probing' },
    { whose: 'any', on: 'probe answered', to: 'ready.steady' },
    { whose: 'any', on: 'probe could not be sent', to: 'ready.steady' },
    { whose: 'any', on: 'probe unanswered', when: 'tolerated', to: 'ready.steady' },
    ...loss('probe unanswered', 'not tolerated, '),
    ...loss('probe lost'),
  ),
  ...from('ready', ...loss('lost (current generation)'), { ...reconnects, ends: 'with DELETE' }, replaces, {
    whose: 'any',
    on: 'close',
    to: 'closing',
    ends: 'with DELETE',
  }),
  ...from(
    'lost',
    { whose: 'own', on: 'demand', when: 'no wait', to: 'recreating.opening' },
    { whose: 'own', on: 'demand', when: 'budget left', to: 'recreating.backingOff' },
    { whose: 'own', on: 'demand', when: 'budget spent', to: 'exhausted.cooling' },
    reconnects,
  ),
  ...from(
    'recreating.backingOff',
    { whose: 'own', on: 'after backoff', to: 'recreating.opening' },
    { whose: 'own', on: 'after window', to: 'exhausted.cooling' },
    reconnects,
  ),
  ...from(
    'recreating.opening',
    { whose: 'own', on: 'opened', to: 'ready.steady' },
    { whose: 'own', on: 'open failed', when: 'budget left', to: 'recreating.backingOff' },
    { whose: 'own', on: 'open failed', when: 'budget spent', to: 'exhausted.cooling' },
    { whose: 'own', on: 'open failed for good', to: 'exhausted.cooling' },
    { whose: 'own', on: 'after window', to: 'exhausted.cooling' },
  ),
  ...from('failed-ownership', replaces),
  ...from('exhausted.cooling', { whose: 'own', on: 'after coolDown', to: 'exhausted.cooled' }, reconnects),
  ...from('exhausted.cooled', { whose: 'own', on: 'demand', to: 'recreating.opening' }, reconnects),
  ...from('(open)', { whose: 'any', on: 'close', to: 'closing' }),
  ...from('closing', { whose: 'any', on: 'shut down', to: 'closed' }),
];

/** Does this row speak of this state? */
export function isFrom({ from: start }: Row, state: ConnectionStateName): boolean {
  if (start === '(open)') return state !== 'closing' && state !== 'closed';
  return start === state || (start === 'ready' && state.startsWith('ready.'));
}
