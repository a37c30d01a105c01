/**
 * What is seen from outside when an event happens to a connection, written by hand: what the server counts, and what
 * the callers get. Together with the rows of connection-table.ts this is the oracle of the live routes.
 */
import type { ConnectionState } from '../../machines/connection.machine.ts';
import type { Ownership } from '../../machines/vocabulary.ts';
import type { Outcome, RouteData, RouteEvent, RouteStep, ServerSees } from '../../src/testing/route.ts';
import { isIn } from './connection-events.ts';
import type { Route, RouteTransport, Step } from './connection-routes.ts';
import { CONNECTION_ROWS, CONNECTION_STATES, type ConnectionStateName, isFrom } from './connection-table.ts';

interface EventFacts {
  /** What the server counts, whatever comes of it. */
  readonly sees?: ServerSees;
  /** Somebody asks for something: a call is made, or `reconnect()`. */
  readonly asks?: 'call' | 'reconnect';
  /** What that call comes to at once, if it does not wait: over an owned and over a caller-owned connection. */
  readonly own?: Outcome;
  readonly lent?: Outcome;
}

const EITHER: Partial<Record<RouteEvent, EventFacts>> = {
  // And one call more, so that each is proved by an answer.
  opened: { sees: { handshakes: 1, toolCalls: 1, executions: 1 }, asks: 'call', own: 'an answer' },
  demand: { asks: 'call' },
  reconnect: { asks: 'reconnect' },
  'suspected, timeout': {
    sees: { toolCalls: 1, pings: 1 },
    asks: 'call',
    own: 'the timeout of the SDK',
    lent: 'the timeout of the SDK',
  },
  'after probeDistance': { sees: { pings: 1 } },
  // By the answer to a call.
  heard: { sees: { toolCalls: 1, executions: 1 }, asks: 'call', own: 'an answer' },
};

const FACTS: Readonly<Record<RouteTransport, Partial<Record<RouteEvent, EventFacts>>>> = {
  http: {
    ...EITHER,
    // Only a call can notice it. One whose policy is `never` does not want the connection back.
    lost: {
      sees: { toolCalls: 1 },
      asks: 'call',
      own: 'ConnectionUnavailableError',
      lent: 'CallerOwnedConnectionLostError',
    },
    'lost, and a call did not run': {
      sees: { toolCalls: 1 },
      asks: 'call',
      lent: 'CallerOwnedConnectionLostError',
    },
  },
  stdio: {
    ...EITHER,
    // The process ends while nothing is asked of it.
    lost: {},
    'lost, and a safe call may have run': {
      sees: { toolCalls: 1, executions: 1 },
      asks: 'call',
      lent: 'CallerOwnedConnectionLostError',
    },
  },
};

/** One dial, until the server holds its `initialize`. */
const DIAL: Readonly<Record<RouteTransport, ServerSees>> = {
  http: { initializes: 1 },
  stdio: { processes: 1, initializes: 1 },
};

/** What the caller does itself to have a connection to supply. */
const CALLERS_CONNECT: Readonly<Record<RouteTransport, ServerSees>> = {
  http: { initializes: 1, handshakes: 1 },
  stdio: { processes: 1, initializes: 1, handshakes: 1 },
};

/** An event of the machine, as it is made to happen to a connection over this transport. */
function routeEvent({ event }: Step): RouteEvent {
  switch (event) {
    case 'demand, if-unsent, unsent':
      return 'demand';
    case 'lost, rejected':
      return 'lost, and a call did not run';
    case 'lost, closed':
      return 'lost, and a safe call may have run';
    case 'unanswered, outstanding, not silent for long':
      return 'probe unanswered';
    case 'unanswered, outstanding, silent':
      return 'probe unanswered, and silent for long';
    default:
      return event as RouteEvent;
  }
}

interface Happening {
  readonly event: RouteEvent;
  readonly to: ConnectionStateName;
}

/** The route with everything that must be seen of it. */
export function routeData(route: Route, ownership: Ownership, transport: RouteTransport): RouteData {
  const { recreate, lazy, given, steps } = route;
  const watcher = new Watcher(ownership, transport);
  const joined = join([...given, ...steps]);
  const all = [
    watcher.begin(lazy, joined[0]),
    ...joined.map((step, index) => watcher.step(step, joined[index + 1])),
  ];
  return {
    ownership,
    transport,
    recreate,
    lazy,
    given: 1 + join(given).length,
    steps: all,
    end: watcher.end(),
  };
}

/**
 * Nothing can be done between these and what was before: a check and the end of the old generation are over at once, a
 * close goes on to its end by itself, calls that waited are answered, and a call that noticed the loss demands the
 * connection in the same moment.
 */
const FOLLOWS_BY_ITSELF = ['verified', 'retired', 'answered', 'shut down'];

function join(steps: readonly Step[]): Happening[] {
  const joined: Happening[] = [];
  for (const step of steps) {
    const last = joined.at(-1);
    const follows = FOLLOWS_BY_ITSELF.includes(step.event) || /^demand, .*run$/.test(step.event);
    if (!follows) joined.push({ event: routeEvent(step), to: step.to });
    else if (last !== undefined) joined[joined.length - 1] = { ...last, to: step.to };
  }
  return joined;
}

/** Follows one route and keeps the books. */
class Watcher {
  readonly #ownership: Ownership;
  readonly #transport: RouteTransport;
  /** Sessions that were ended, which the server may see only later. */
  #deletes = 0;
  #state: ConnectionStateName = 'idle';
  #asked = 0;
  #waiting: { readonly number: number; readonly asks: 'call' | 'reconnect' }[] = [];

  constructor(ownership: Ownership, transport: RouteTransport) {
    this.#ownership = ownership;
    this.#transport = transport;
  }

  begin(lazy: boolean, next: Happening | undefined): RouteStep {
    const isOwned = this.#ownership === 'supervisor';
    if (isOwned) this.#state = lazy ? 'idle' : 'connecting.opening';
    else this.#state = 'ready.steady';
    const server = isOwned ? this.#dial('idle', next) : CALLERS_CONNECT[this.#transport];
    // Nobody can listen to a handle before there is one.
    return { event: 'begin', to: this.#state, enters: [], server, settles: {} };
  }

  step({ event, to }: Happening, next: Happening | undefined): RouteStep {
    const from = this.#state;
    this.#state = to;
    const facts = FACTS[this.#transport][event] ?? {};
    const settles: Record<number, Outcome> = {};
    const sees: ServerSees[] = [facts.sees ?? {}];
    if (facts.asks !== undefined) {
      const number = ++this.#asked;
      const atOnce = this.#ownership === 'supervisor' ? facts.own : facts.lent;
      if (atOnce === undefined) this.#waiting.push({ number, asks: facts.asks });
      else settles[number] = atOnce;
    }
    if (event === 'replaced') sees.push(CALLERS_CONNECT[this.#transport]);
    sees.push(this.#dial(from, next), this.#settleWaiting(settles));
    if (endsWithDelete(from, event)) this.#deletes++;
    return { event, to, enters: entered(from, event, to), server: sum(sees), settles };
  }

  /** A session that lives at the end is ended by the close. What the caller owns, nobody else ends. */
  end(): ServerSees {
    if (this.#transport === 'stdio' || this.#ownership !== 'supervisor') return {};
    return { deletes: this.#deletes + (this.#state.startsWith('ready') ? 1 : 0) };
  }

  #dial(from: ConnectionStateName, next: Happening | undefined): ServerSees {
    if (CONNECTION_STATES[this.#state].runs !== 'dial' || from === this.#state) return {};
    // Without a command there is no process that could begin a handshake.
    const cannotSpawn = this.#transport === 'stdio' && next?.event === 'open failed for good';
    return cannotSpawn ? {} : DIAL[this.#transport];
  }

  #settleWaiting(settles: Record<number, Outcome>): ServerSees {
    const { calls } = CONNECTION_STATES[this.#state];
    if (calls === 'wait') return {};
    const sent = calls === 'are sent' ? this.#waiting.filter(({ asks }) => asks === 'call').length : 0;
    for (const { number } of this.#waiting) settles[number] = calls === 'are sent' ? 'an answer' : calls;
    this.#waiting = [];
    return sent === 0 ? {} : { toolCalls: sent, executions: sent };
  }
}

function endsWithDelete(from: ConnectionStateName, event: RouteEvent): boolean {
  return CONNECTION_ROWS.some(
    (row) => isFrom(row, from) && row.ends === 'with DELETE' && isIn(row.on, event),
  );
}

/** What the handle says it entered. A loss is always said before what is decided about it. */
function entered(from: ConnectionStateName, event: RouteEvent, to: ConnectionStateName): ConnectionState[] {
  const coarse = (state: ConnectionStateName) => state.split('.')[0] as ConnectionState;
  if (event === 'close') return ['closing', 'closed'];
  if (event === 'replaced') return ['connecting', 'ready'];
  const isLoss = from.startsWith('ready') && !to.startsWith('ready') && /^(lost|probe)/.test(event);
  const passed: ConnectionState[] = isLoss ? ['lost'] : [];
  if (coarse(to) !== (isLoss ? 'lost' : coarse(from))) passed.push(coarse(to));
  return passed;
}

function sum(all: readonly ServerSees[]): ServerSees {
  const total: Record<string, number> = {};
  for (const each of all) {
    for (const [what, more] of Object.entries(each)) total[what] = (total[what] ?? 0) + more;
  }
  return total;
}
