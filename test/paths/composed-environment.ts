/**
 * What can happen to a connection and its operations: what the world does, and what a host or the caller of an
 * operation may do. A server may run a request and not say so.
 */
import type { ConnectionEvent } from '../../machines/connection.machine.ts';
import type { Evidence } from '../../machines/vocabulary.ts';
import { operationKeyOf } from './composed-key.ts';
import type { ComposedLogic } from './composed-model.ts';
import type { Parts } from './composed-parts.ts';
import type { Operation } from './composed-state.ts';
import { CONNECTION_FIXTURES, type ConnectionEventName } from './connection-fixtures.ts';
import type { Fixtures } from './graph.ts';

export type ComposedEvent =
  /** `asksForDial`: one should follow, or may. */
  | { readonly type: 'connection'; readonly event: ConnectionEvent; readonly asksForDial: boolean }
  | { readonly type: 'request ends'; readonly operation: number; readonly end: RequestEnd }
  | { readonly type: 'begin' | 'abort' | 'deadline'; readonly operation: number };

interface Chance {
  /** In which states of the connection; where nothing is said, the fixture knows. */
  readonly where?: RegExp;
  readonly asksForDial?: boolean;
  /** Nobody has to do it, so nothing may wait for it. */
  readonly optional?: true;
}

const CHANCES = {
  opened: {},
  'open failed': { asksForDial: true },
  'open failed for good': { asksForDial: true },
  'probe answered': {},
  'probe unanswered': { asksForDial: true },
  'probe lost': { asksForDial: true },
  verified: { where: /checking/ },
  unverified: { where: /checking/ },
  'after backoff': {},
  'after window': {},
  'after stable': {},
  'after coolDown': { asksForDial: true },
  'shut down': {},
  lost: { where: /^ready/, asksForDial: true, optional: true },
  'lost, of the generation before': { where: /^ready/, optional: true },
  'suspected, deaf': { where: /^ready/, optional: true },
  'suspected, of the generation before': { where: /^ready/, optional: true },
  reconnect: { where: /^(?!clos)/, asksForDial: true, optional: true },
  replaced: { where: /^(ready|failed)/, optional: true },
  close: { where: /^(?!clos)/, optional: true },
} as const satisfies Partial<Record<ConnectionEventName, Chance>>;

/** How a request can end. */
export interface RequestEnd {
  /** The server ran it. */
  readonly ran: boolean;
  /** What its failure proves; nothing if it was answered. */
  readonly proves?: Evidence;
}

const proves = (
  connection: Evidence['connection'],
  execution: Evidence['execution'],
  cause: Evidence['cause'],
): Evidence => ({ connection, execution, cause });

const REQUEST_ENDS = {
  'is answered': { ran: true },
  'is answered with an error': { ran: true, proves: proves('usable', 'answered', 'rpc-error') },
  'finds its session gone': { ran: false, proves: proves('lost', 'none', 'session-unknown') },
  'loses its answer': { ran: true, proves: proves('lost', 'unknown', 'connection-closed') },
  'is lost before it ran': { ran: false, proves: proves('lost', 'unknown', 'connection-closed') },
  'is cut off from its answer': { ran: true, proves: proves('suspect', 'unknown', 'request-cut') },
  'is cut before it ran': { ran: false, proves: proves('suspect', 'unknown', 'request-cut') },
  'is turned away': { ran: false, proves: proves('suspect', 'none', 'session-rejected') },
  'times out': { ran: true, proves: proves('suspect', 'unknown', 'timeout') },
} as const satisfies Record<string, RequestEnd>;

/** How much of it takes part: the product of several operations grows with each. */
export type Extent = 'everything' | 'losses and suspicions' | 'losses';

type Happening = keyof typeof CHANCES | keyof typeof REQUEST_ENDS | 'is aborted by its caller' | 'is overdue';

/** What a loss and a recreation need, and a loss that only a probe can tell. */
const LOSSES: readonly Happening[] = [
  'opened',
  'open failed',
  'probe answered',
  'probe lost',
  'verified',
  'after backoff',
  'after coolDown',
  'lost',
  'lost, of the generation before',
  'replaced',
  'is answered',
  'finds its session gone',
  'loses its answer',
  'is turned away',
];

const LOSSES_AND_SUSPICIONS: readonly Happening[] = [
  ...LOSSES,
  'suspected, deaf',
  'reconnect',
  'close',
  'shut down',
  'is lost before it ran',
  'is cut off from its answer',
  'is aborted by its caller',
];

const TAKING_PART: Readonly<Record<Extent, readonly Happening[] | 'all'>> = {
  everything: 'all',
  'losses and suspicions': LOSSES_AND_SUSPICIONS,
  losses: LOSSES,
};

/** The world does these by itself, sooner or later. */
export function mustCome(event: string): boolean {
  const chance: Chance | undefined = CHANCES[event as keyof typeof CHANCES];
  return chance === undefined ? isRequestEnd(event) : chance.optional !== true;
}

function isRequestEnd(event: string): boolean {
  return Object.keys(REQUEST_ENDS).some((end) => event.endsWith(` ${end}`));
}

type Fixture = Fixtures<ComposedLogic>[string];

/** Every event that is possible in a state, by a name that can be read. */
export function composedFixtures(parts: Parts, operations: number, extent: Extent): Fixtures<ComposedLogic> {
  const fixtures: Record<string, Fixture> = {};
  const all = TAKING_PART[extent];
  const takesPart = (name: string) => all === 'all' || all.includes(name as Happening);
  for (const [name, chance] of Object.entries<Chance>(CHANCES)) {
    if (takesPart(name)) fixtures[name] = connectionFixture(parts, name as keyof typeof CHANCES, chance);
  }
  for (let index = 0; index < operations; index++) {
    for (const [name, isPossible, event] of happeningsOf(index)) {
      if (name !== 'begins' && !takesPart(name)) continue;
      fixtures[`operation ${index + 1} ${name}`] = ({ context }) =>
        isPossible(context.operations[index]!) && isFirstInItsPlace(parts, context.operations, index)
          ? event
          : undefined;
    }
  }
  return fixtures;
}

function connectionFixture(
  parts: Parts,
  name: keyof typeof CHANCES,
  { where, asksForDial = false }: Chance,
): Fixture {
  const make = CONNECTION_FIXTURES[name];
  return ({ context: { connection } }) => {
    if (where?.test(parts.connection.stateOf(connection)) === false) return undefined;
    const event = make(connection) as ConnectionEvent | undefined;
    return event && { type: 'connection', event, asksForDial };
  };
}

function happeningsOf(
  operation: number,
): (readonly [string, (operation: Operation) => boolean, ComposedEvent])[] {
  const isInTrouble = ({ phase, trouble }: Operation) => phase === 'begun' && trouble !== undefined;
  return [
    ['begins', ({ phase }) => phase === 'not begun', { type: 'begin', operation }],
    ['is aborted by its caller', isInTrouble, { type: 'abort', operation }],
    ['is overdue', isInTrouble, { type: 'deadline', operation }],
    ...Object.entries<RequestEnd>(REQUEST_ENDS).map(
      ([name, end]) =>
        [name, ({ inFlight }: Operation) => inFlight, { type: 'request ends', operation, end }] as const,
    ),
  ];
}

/** What happens to one of several in the same place could as well happen to another. */
function isFirstInItsPlace(parts: Parts, operations: readonly Operation[], index: number): boolean {
  const key = operationKeyOf(parts, operations[index]!);
  return operations.findIndex((each) => operationKeyOf(parts, each) === key) === index;
}
