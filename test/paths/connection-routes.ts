/**
 * The recovery routes. A route begins at rest (not opened, ready, exhausted) and ends at the next rest, or closed; a
 * longer history is one route after another. Between the two it goes every way that meets no configuration twice.
 */
import { initialTransition, type SnapshotFrom } from 'xstate';
import { type ConnectionInput, connectionMachine } from '../../machines/connection.machine.ts';
import type { Ownership } from '../../machines/vocabulary.ts';
import { BUDGET } from '../machines/connection-driver.ts';
import { CONNECTION_FIXTURES, type ConnectionEventName } from './connection-fixtures.ts';
import type { ConnectionStateName } from './connection-table.ts';
import { type Exploration, type Fixtures, type Path, shortestPaths, simplePaths } from './graph.ts';
import { stateName } from './state-name.ts';

type Machine = typeof connectionMachine;
type Snapshot = SnapshotFrom<Machine>;

export type RouteTransport = 'http' | 'stdio';

export interface Step {
  readonly event: ConnectionEventName;
  readonly to: ConnectionStateName;
}

export interface Route {
  readonly recreate: 'on-demand' | 'eager';
  readonly lazy: boolean;
  /** How the beginning is reached. */
  readonly given: readonly Step[];
  readonly from: ConnectionStateName;
  readonly steps: readonly Step[];
}

/** A first dial and one more: enough for every kind of step between two rests. */
export const ROUTE_BUDGET = { maxAttempts: 2, missedProbes: 1 } as const;

/** One event for each thing that can happen to a connection; the others differ from these in no state. */
const HAPPENS: readonly ConnectionEventName[] = [
  'retired',
  'opened',
  'open failed',
  'open failed for good',
  'verified',
  'demand, if-unsent, unsent',
  'reconnect',
  'replaced',
  'lost',
  'suspected, timeout',
  'probe answered',
  'answered',
  'after backoff',
  'after window',
  'after stable',
  'after coolDown',
];

/** What a call demands that noticed the loss, and what a probe finds, as each transport brings them about. */
const HAPPENS_OVER: Readonly<Record<RouteTransport, readonly ConnectionEventName[]>> = {
  http: ['lost, rejected', 'demand, if-unsent, not run', 'probe lost'],
  stdio: ['lost, closed', 'demand, safe, may have run'],
};

/** Silence is waited for where it is short: with limits that only an owned connection is given. */
const HAPPENS_TO_OWNED: Readonly<Record<RouteTransport, readonly ConnectionEventName[]>> = {
  http: ['unanswered, outstanding, not silent for long', 'heard', 'after probeDistance'],
  stdio: ['unanswered, outstanding, silent'],
};

const CLOSING: readonly ConnectionEventName[] = ['close', 'shut down'];

const stateOf = ({ value }: Snapshot) => stateName(value) as ConnectionStateName;

/** What else could happen there is not what these routes are about, or cannot be made to happen before. */
function isOnRoute({ value, context }: Snapshot, event: ConnectionEventName): boolean {
  const isBySomeCall = /^demand, .*run$/.test(event);
  const someCallNoticed = context.cause === 'connection-closed' || context.cause === 'session-rejected';
  switch (stateName(value) as ConnectionStateName) {
    // A check is over before anything else can happen, and so is the end of the generation before.
    case 'connecting.checking':
      return event === 'verified';
    case 'recreating.retiring':
      return event === 'retired';
    case 'ready.probing':
      if (context.misses > 0) return event === 'probe answered';
      return /^(probe|unanswered|close$|reconnect$|replaced$)/.test(event);
    case 'ready.suspect':
      return ['heard', 'after probeDistance', 'close'].includes(event);
    case 'ready.steady':
      // Those that waited are answered, and one more.
      return context.attempts > 0 ? event === 'answered' : event !== 'answered' && !isBySomeCall;
    case 'lost':
      // A call that was in flight when the connection closed demands it at once.
      return someCallNoticed === isBySomeCall;
    case 'recreating.backingOff':
      if (someCallNoticed && context.settings.recreate === 'eager' && !context.wanted) return isBySomeCall;
      // After a failed dial, it only changes the delay.
      return !isBySomeCall && (context.attempts === 0 || !event.startsWith('demand'));
    case 'recreating.opening':
      // It is noted, and nothing comes of it.
      return !event.startsWith('demand');
    default:
      return !isBySomeCall && event !== 'answered';
  }
}

const isAtRest = (snapshot: Snapshot): boolean =>
  ['idle', 'failed-ownership', 'exhausted.cooling'].includes(stateOf(snapshot)) ||
  (stateOf(snapshot) === 'ready.steady' && snapshot.context.attempts === 0);

/** The budget matters until it is spent, and is given back by all that leads out of `exhausted`. */
const routeKey = (snapshot: Snapshot): string => {
  const state = stateOf(snapshot);
  const { settings, attempts, dialsSinceStable, wanted, misses, cause, generation } = snapshot.context;
  if (state.startsWith('exhausted')) return `${state} ${generation > 0}`;
  const eager = settings.recreate === 'eager' ? `${dialsSinceStable} ${wanted}` : '';
  const noticed = /^(lost|recreating.backingOff)$/.test(state) && cause;
  return `${state} ${attempts} ${eager} ${noticed} ${misses > 0}`;
};

export function recoveryRoutes(ownership: Ownership, transport: RouteTransport): Route[] {
  const settings =
    ownership === 'supervisor'
      ? [
          { recreate: 'on-demand', lazy: false },
          { recreate: 'on-demand', lazy: true },
          { recreate: 'eager', lazy: false },
        ]
      : [{ recreate: 'on-demand', lazy: false }];
  const routes = settings.flatMap((each) => routesWith({ ownership, ...each } as Setting, transport));
  // What depends neither on a setting nor on what was before is walked once.
  const name = ({ from, steps }: Route) => JSON.stringify([from, steps]);
  const first = new Map(routes.map((route) => [name(route), route] as const).reverse());
  return routes.filter((route) => first.get(name(route)) === route);
}

type Setting = Pick<ConnectionInput, 'ownership' | 'recreate' | 'lazy'>;

function routesWith(setting: Setting, transport: RouteTransport): Route[] {
  const { recreate, lazy } = setting;
  const input = { ...BUDGET, ...ROUTE_BUDGET, ...setting, spawns: transport === 'stdio' };
  const ofOwned = setting.ownership === 'supervisor' ? HAPPENS_TO_OWNED[transport] : [];
  const events = [...HAPPENS, ...HAPPENS_OVER[transport], ...ofOwned];
  const [initial] = initialTransition(connectionMachine, input);
  const rests = shortestPaths(exploration(input, events, initial, () => false)).flatMap(({ steps }) => {
    const last = steps.at(-1)?.to;
    return last !== undefined && isAtRest(last) ? [{ given: steps, begin: last }] : [];
  });
  return [{ given: [], begin: initial }, ...rests].flatMap(({ given, begin }) => {
    const ends = (snapshot: Snapshot) => snapshot !== begin && isAtRest(snapshot);
    const between = simplePaths(exploration(input, events, begin, ends));
    const closed = shortestPaths(exploration(input, [...events, ...CLOSING], begin, ends)).filter(
      ({ steps }) => steps.at(-1)?.event === 'shut down',
    );
    return [...between, ...closed].map(({ steps }) => ({
      recreate,
      lazy,
      given: given.map(toStep),
      from: stateOf(begin),
      steps: steps.map(toStep),
    }));
  });
}

function exploration(
  input: ConnectionInput,
  events: readonly ConnectionEventName[],
  begin: Snapshot,
  ends: (snapshot: Snapshot) => boolean,
): Exploration<Machine> {
  const fixtures: Fixtures<Machine> = Object.fromEntries(
    events.map((event) => [
      event,
      (snapshot: Snapshot) => {
        if (ends(snapshot) || !isOnRoute(snapshot, event)) return undefined;
        return CONNECTION_FIXTURES[event](snapshot);
      },
    ]),
  );
  // A way that comes back to where it began has an end all the same.
  const key = (snapshot: Snapshot) =>
    `${routeKey(snapshot)}${snapshot === begin ? ', at the beginning' : ''}`;
  return { logic: connectionMachine, input, fixtures, key, from: begin, limit: 20_000 };
}

const toStep = ({ event, to }: Path<Snapshot>['steps'][number]): Step => ({
  event: event as ConnectionEventName,
  to: stateOf(to),
});
