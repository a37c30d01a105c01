/**
 * Walks real actors through every configuration that the machine can reach, and makes every event happen in each.
 * What must come of it is read from the hand-written table; the graph only says which ways there are.
 */
import type {
  ConnectionInput,
  ConnectionState,
  connectionMachine,
} from '../../machines/connection.machine.ts';
import { BUDGET, ConnectionDriver } from '../machines/connection-driver.ts';
import { EXECUTORS } from './connection-executors.ts';
import { CONNECTION_FIXTURES, type ConnectionEventName, SENT_EVENTS } from './connection-fixtures.ts';
import { connectionKey } from './connection-key.ts';
import { ConnectionOracle } from './connection-oracle.ts';
import type { ConnectionStateName, Row } from './connection-table.ts';
import { shortestPaths } from './graph.ts';

export type ConnectionMachine = typeof connectionMachine;

/** Which ownership, and how much is allowed to it: what makes a difference to the table's conditions. */
export const SETTINGS: Readonly<Record<string, Partial<ConnectionInput>>> = {
  'own, on demand': { maxAttempts: 4, missedProbes: 2 },
  'own, eager': { recreate: 'eager', maxAttempts: 2, missedProbes: 1, signsIn: true },
  'own, lazy, one attempt, a child': {
    lazy: true,
    maxAttempts: 1,
    missedProbes: 1,
    spawns: true,
    signsIn: true,
  },
  'caller-client': { ownership: 'caller-client', missedProbes: 2 },
  'caller-session, eager and lazy': {
    ownership: 'caller-session',
    recreate: 'eager',
    lazy: true,
    missedProbes: 1,
  },
};

export const EVENT_NAMES = Object.keys(CONNECTION_FIXTURES) as ConnectionEventName[];

/** One actor, and what the table says of it. Throws at the first difference. */
export class Walk {
  readonly driver: ConnectionDriver;
  readonly oracle: ConnectionOracle;
  readonly rows: Row[] = [];
  readonly #taken: string[] = [];

  constructor(settings: Partial<ConnectionInput>, machine: ConnectionMachine) {
    this.driver = new ConnectionDriver(settings, machine);
    this.oracle = new ConnectionOracle({ ...BUDGET, ...settings });
    const begun = this.oracle.state === 'idle' ? ['idle'] : ['idle', 'connecting'];
    const said = begun.map((state) => ({ type: 'entered', state, cause: null }));
    this.#same('said at first', this.driver.emitted, said);
    this.#compare();
  }

  /** A retirement, a dial or a probe was left before it had ended, and may still end. */
  get hasAbandoned(): boolean {
    const { retires, opens, probes } = this.driver;
    return [...retires, ...opens, ...probes].some(({ signal, settled }) => signal.aborted && !settled);
  }

  async take(event: ConnectionEventName): Promise<void> {
    this.#taken.push(event);
    const { driver, oracle } = this;
    if (oracle.rowFor(event) === undefined) return this.#ignore(event);
    const { state } = oracle;
    const heard = driver.emitted.length;
    const dialled = driver.opens.length;
    const retired = driver.retires.length;
    const probed = driver.probes.length;
    const checked = driver.verifications;
    const read = driver.tokenReads;
    const done = await EXECUTORS[event](driver, oracle);
    if (!done) this.#fail('it cannot happen here');
    const row = oracle.take(event)!;
    this.rows.push(row);
    this.#same('said', driver.emitted.slice(heard), this.#says(state, row));
    const entered = row.to === state && !row.anew ? undefined : oracle.facts.runs;
    this.#same('dials', driver.opens.length - dialled, entered === 'dial' ? 1 : 0);
    this.#same('retirements', driver.retires.length - retired, entered === 'retirement' ? 1 : 0);
    this.#same('probes', driver.probes.length - probed, entered === 'probe' ? 1 : 0);
    this.#same('checks', driver.verifications - checked, entered === 'check' ? 1 : 0);
    this.#same('token reads', driver.tokenReads - read, row.to === 'exhausted.signedOut' && row.anew ? 1 : 0);
    if (entered === 'dial') {
      const { generation, dials } = oracle;
      this.#same('dial', driver.opens.at(-1)?.input, { generation: generation + 1, attempt: dials });
    }
    this.#compare();
  }

  /** Illegal: nothing changes, nothing is started, nothing is said. */
  async #ignore(event: ConnectionEventName): Promise<void> {
    const { driver, oracle } = this;
    const before = driver.trace;
    const snapshot = driver.actor.getSnapshot();
    await EXECUTORS[event](driver, oracle);
    this.#same('trace', driver.trace, before);
    if (event in SENT_EVENTS && driver.actor.getSnapshot() !== snapshot) {
      this.#fail('an event that should be ignored made a new snapshot');
    }
  }

  #compare(): void {
    const { driver, oracle } = this;
    const { runs, delays } = oracle.facts;
    if (driver.error !== undefined) this.#fail(`the actor died: ${driver.error}`);
    this.#same('state', driver.state, oracle.state);
    this.#same('generation', driver.context.generation, oracle.generation);
    this.#same('cause', driver.context.cause, oracle.cause);
    const retirements = driver.retires.filter(isRunning).length;
    this.#same('running retirements', retirements, runs === 'retirement' ? 1 : 0);
    if (oracle.isReady) {
      const { misses, suspicion } = driver.context;
      this.#same('what is noted', { misses, suspicion }, oracle.noted);
    }
    this.#same('running dials', driver.opens.filter(isRunning).length, runs === 'dial' ? 1 : 0);
    this.#same('running probes', driver.probes.filter(isRunning).length, runs === 'probe' ? 1 : 0);
    if (runs === 'probe') {
      const { generation, suspicion } = oracle;
      this.#same('probe', driver.probes.at(-1)?.input, { generation, suspicion });
    }
    this.#same('is checked', driver.isChecking, runs === 'check');
    this.#same('shutdowns', driver.shutdowns.length, oracle.state.startsWith('clos') ? 1 : 0);
    const expected = {
      stable: BUDGET.stableMs,
      window: BUDGET.windowMs,
      firstReady: BUDGET.firstReadyMs,
      backoff: oracle.backoffMs,
      coolDown: oracle.coolDownMs,
      probeDistance: oracle.probeDistanceMs,
      nextAttempt: oracle.nextAttemptMs,
    };
    const timers = delays
      .filter((delay) => delay !== 'stable' || !oracle.isStable)
      .filter((delay) => delay !== 'window' || !oracle.windowIsOver)
      .filter((delay) => delay !== 'firstReady' || !oracle.firstReadyIsOver)
      .filter((delay) => delay !== 'coolDown' || !oracle.coolDownIsOver)
      .map((delay) => expected[delay]);
    this.#same('timers', [...driver.clock.runningMs].sort(), timers.sort());
  }

  #says(from: ConnectionStateName, row: Row): unknown[] {
    const { generation, cause, suspicion } = this.oracle;
    const entered = (state: ConnectionState) => ({ type: 'entered', state, cause });
    const coarse = (state: string) => state.split('.')[0] as ConnectionState;
    const wasReady = coarse(from) === 'ready';
    const isLoss = wasReady && isLossBy(row);
    const said: unknown[] = [];
    if (isLoss) said.push(entered('lost'), { type: 'lost', generation, cause });
    if (coarse(row.to) !== (isLoss ? 'lost' : coarse(from))) said.push(entered(coarse(row.to)));
    if (row.to.endsWith('.backingOff') && row.on.endsWith(' failed')) {
      said.push({ type: 'dial-failed', serverIsMissing: this.oracle.saysServerIsMissing });
    }
    if (row.on === 'after firstReady' && this.oracle.saysServerIsMissing) {
      said.push({ type: 'dial-failed', serverIsMissing: true });
    }
    if (coarse(row.to) !== 'ready') return said;
    if (!wasReady) said.push({ type: 'opened', generation });
    if (row.on === 'heard') said.push({ type: 'cleared', generation });
    if (from === row.to && !row.anew) return said;
    if (row.to === 'ready.probing') said.push({ type: 'suspected', generation, cause: suspicion });
    if (from !== 'ready.probing' || row.anew) return said;
    const found = { 'ready.suspect': 'suspect', 'ready.unreachable': 'unreachable' } as const;
    said.push({ type: 'probed', generation, found: found[row.to as keyof typeof found] ?? 'usable' });
    return said;
  }

  #same(what: string, seen: unknown, expected: unknown): void {
    if (seen === expected) return;
    const [left, right] = [JSON.stringify(seen), JSON.stringify(expected)];
    if (left !== right) this.#fail(`${what}: expected ${right}, saw ${left}`);
  }

  #fail(why: string): never {
    throw new Error(`${this.#taken.join(' > ') || 'at the start'}: ${why}`);
  }
}

function isRunning({ signal, settled }: { signal: AbortSignal; settled: boolean }): boolean {
  return !signal.aborted && !settled;
}

function isEnding(event: ConnectionEventName): boolean {
  return !(event in SENT_EVENTS) && !event.startsWith('after ');
}

/** What a row that leaves `ready` for one of these says is a loss. */
function isLossBy({ on, to }: Row): boolean {
  return (
    !to.startsWith('ready') && (on === 'lost' || on === 'probe lost' || /^(unanswered|no server)/.test(on))
  );
}

/** Every configuration, every event in it. Throws at the first difference; returns the rows that were walked. */
export async function tour(
  settings: Partial<ConnectionInput>,
  machine: ConnectionMachine,
): Promise<Set<Row>> {
  const rows = new Set<Row>();
  const walkTo = async (path: readonly ConnectionEventName[]): Promise<Walk> => {
    const walk = new Walk(settings, machine);
    for (const event of path) await walk.take(event);
    return walk;
  };
  const paths = explored(settings, machine).map(({ steps }) =>
    steps.map(({ event }) => event as ConnectionEventName),
  );
  const known = new Set<string>();
  for (const path of paths) known.add((await walkTo(path)).oracle.key);
  for (const path of paths) {
    const resting = await walkTo(path);
    for (const event of EVENT_NAMES) {
      // What is ignored leaves the actor as it is; but what was abandoned can end too late only once.
      const mayShare =
        resting.oracle.rowFor(event) === undefined && !(isEnding(event) && resting.hasAbandoned);
      const walk = mayShare ? resting : await walkTo(path);
      await walk.take(event);
      for (const row of walk.rows) rows.add(row);
      // A machine that forgets something has fewer configurations than the table: those are visited all the same.
      if (known.has(walk.oracle.key)) continue;
      known.add(walk.oracle.key);
      paths.push([...path, event]);
    }
  }
  return rows;
}

function explored(settings: Partial<ConnectionInput>, machine: ConnectionMachine) {
  return shortestPaths({
    logic: machine,
    input: { ...BUDGET, ...settings },
    fixtures: CONNECTION_FIXTURES,
    key: connectionKey,
    limit: 100_000,
  });
}
