/**
 * Judges real actors with every input, walks them through every configuration that the machine can reach, and makes
 * every event happen in each. What must come of it is read from the hand-written table; the graph only says which
 * ways there are.
 */
import type { OperationInput, operationMachine } from '../../machines/operation.machine.ts';
import type { Ownership } from '../../machines/vocabulary.ts';
import { OperationDriver, UNSENT } from '../machines/operation-driver.ts';
import { OPERATION_KINDS, REPLAY_POLICIES } from './connection-fixtures.ts';
import { shortestPaths } from './graph.ts';
import { whatCallerGets } from './operation-ends.ts';
import { ASSERTIONS, EXECUTORS } from './operation-executors.ts';
import {
  ALL_EVIDENCE,
  EXAMPLE_EVIDENCE,
  OPERATION_EVENTS,
  OPERATION_FIXTURES,
  type OperationEventName,
} from './operation-fixtures.ts';
import { operationKey } from './operation-key.ts';
import { OperationOracle } from './operation-oracle.ts';
import type { Row } from './operation-table.ts';

export type OperationMachine = typeof operationMachine;

const OPERATION_EVENT_NAMES = Object.keys(OPERATION_EVENTS) as OperationEventName[];

const OWNERSHIPS = namesOf<Ownership>({ supervisor: 0, 'caller-client': 0, 'caller-session': 0 });
const ADMISSIONS = namesOf<OperationInput['admission']>({ waits: 0, 'not-waiting': 0, 'queue-full': 0 });

/** Where a tour begins: from one that was never sent, everything else is reached. */
export const OPERATION_SETTINGS: readonly OperationInput[] = OWNERSHIPS.flatMap((ownership) =>
  REPLAY_POLICIES.map((policy) => ({ ...UNSENT, ownership, policy })),
);

/** Everything that an operation in trouble can begin with. */
const INPUTS: readonly OperationInput[] = OPERATION_SETTINGS.flatMap((setting) => [
  // Whatever was proven, and by whatever cause.
  ...ALL_EVIDENCE.map((evidence) => ({ ...setting, evidence, sends: 1 })),
  ...ADMISSIONS.flatMap((admission) => [
    { ...setting, admission },
    ...EXAMPLE_EVIDENCE.flatMap((evidence) =>
      [0, 1, 2, 3].map((sends) => ({ ...setting, admission, evidence, sends })),
    ),
  ]),
  // Of whatever kind.
  ...OPERATION_KINDS.flatMap((kind) => [
    { ...setting, kind },
    ...EXAMPLE_EVIDENCE.map((evidence) => ({ ...setting, kind, evidence, sends: 1 })),
  ]),
]);

/** One actor, and what the table says of it. Throws at the first difference. */
class Walk {
  readonly driver: OperationDriver;
  readonly oracle: OperationOracle;
  readonly rows: Row[];
  readonly #input: OperationInput;
  readonly #taken: string[] = [];

  constructor(input: OperationInput, machine: OperationMachine) {
    this.#input = input;
    this.driver = new OperationDriver(input, machine);
    this.oracle = new OperationOracle(input);
    this.rows = [this.oracle.judged];
    this.#compare();
  }

  take(event: OperationEventName): void {
    this.#taken.push(event);
    const { driver, oracle } = this;
    const isLegal = oracle.rowFor(event) !== undefined;
    const snapshot = driver.actor.getSnapshot();
    EXECUTORS[event](driver);
    if (isLegal) {
      this.rows.push(oracle.take(event)!);
      this.#compare();
      return;
    }
    if (driver.actor.getSnapshot() !== snapshot) this.#fail('it is illegal, and was not ignored');
    this.#same('asked', driver.asked, oracle.asked);
  }

  #compare(): void {
    const { driver, oracle } = this;
    const { callerGets } = oracle;
    this.#same('state', driver.state, oracle.state);
    this.#same('asked', driver.asked, oracle.asked);
    if (oracle.state === 'awaiting') this.#same('demanded', driver.demanded.at(-1), oracle.demands);
    this.#same('is over', driver.isOver, callerGets !== undefined);
    this.#same('evidence', driver.context.evidence, oracle.evidence);
    this.#same('why', driver.context.unavailability, oracle.why);
    if (callerGets === undefined) return;
    const got = whatCallerGets(driver.state, driver.context, oracle.sends);
    if (!ASSERTIONS[callerGets](got, oracle)) this.#fail(`expected ${callerGets}, the caller got ${got}`);
  }

  #same(what: string, seen: unknown, expected: unknown): void {
    if (seen === expected) return;
    const [left, right] = [JSON.stringify(seen), JSON.stringify(expected)];
    if (left !== right) this.#fail(`${what}: expected ${right}, saw ${left}`);
  }

  #fail(why: string): never {
    throw new Error(`${JSON.stringify(this.#input)}${this.#taken.map((event) => ` > ${event}`)}: ${why}`);
  }
}

/** Every input; every configuration, every event in it. Throws at the first difference; returns the walked rows. */
export function operationTour(machine: OperationMachine): Set<Row> {
  const rows = new Set<Row>();
  for (const input of INPUTS) rows.add(new Walk(input, machine).oracle.judged);
  for (const input of OPERATION_SETTINGS) {
    const start = () => new Walk(input, machine);
    for (const { steps } of operationPaths(input, machine)) {
      everyEventAfter(
        steps.map(({ event }) => event as OperationEventName),
        start,
        rows,
      );
    }
  }
  return rows;
}

function everyEventAfter(path: readonly OperationEventName[], start: () => Walk, rows: Set<Row>): void {
  const walkTo = () => {
    const walk = start();
    for (const event of path) walk.take(event);
    return walk;
  };
  const resting = walkTo();
  for (const event of OPERATION_EVENT_NAMES) {
    const row = resting.oracle.rowFor(event);
    // What is ignored leaves the actor as it is.
    const walk = row === undefined ? resting : walkTo();
    walk.take(event);
    for (const each of walk.rows) rows.add(each);
    // What is only noted shows in what follows, and a machine that forgets it has no such configuration.
    const isNoted = row !== undefined && row.from === row.to;
    if (isNoted && path.at(-1) !== event) everyEventAfter([...path, event], start, rows);
  }
}

function operationPaths(input: OperationInput, machine: OperationMachine) {
  return shortestPaths({
    logic: machine,
    input,
    fixtures: OPERATION_FIXTURES,
    key: operationKey,
    limit: 100_000,
  });
}

function namesOf<T extends string>(record: Record<T, unknown>): T[] {
  return Object.keys(record) as T[];
}
