import type { SnapshotFrom } from 'xstate';
import { type OperationInput, operationMachine } from '../../machines/operation.machine.ts';
import type { Evidence } from '../../machines/vocabulary.ts';
import { UNSENT } from '../machines/operation-driver.ts';
import { OPERATION_KINDS, REPLAY_POLICIES } from './connection-fixtures.ts';
import { explore, type Graph, type Path, simplePaths } from './graph.ts';
import { EXAMPLE_EVIDENCE, OPERATION_FIXTURES } from './operation-fixtures.ts';
import { operationKey } from './operation-key.ts';

export type OperationGraph = Graph<SnapshotFrom<typeof operationMachine>>;

const LOSSES: readonly Evidence[] = [
  { connection: 'lost', execution: 'none', cause: 'session-unknown' },
  { connection: 'lost', execution: 'unknown', cause: 'connection-closed' },
];

const OWNERSHIPS = ['supervisor', 'caller-client', 'caller-session'] as const;

/** Everything that an operation in trouble can begin with, by name; of every kind, what each policy decides on. */
export const OPERATION_BEGINNINGS: readonly (readonly [name: string, input: OperationInput])[] =
  OWNERSHIPS.flatMap((ownership) =>
    OPERATION_KINDS.flatMap((kind) =>
      REPLAY_POLICIES.flatMap((policy) =>
        [null, ...(kind === 'tool' ? EXAMPLE_EVIDENCE : LOSSES)].map((evidence) => {
          const failure = evidence === null ? 'never sent' : Object.values(evidence).join(' ');
          const input = { ...UNSENT, ownership, kind, policy, evidence, sends: evidence === null ? 0 : 1 };
          return [`${ownership}, ${kind}, ${policy}: ${failure}`, input] as const;
        }),
      ),
    ),
  );

const exploration = (input: OperationInput, machine: typeof operationMachine) => ({
  logic: machine,
  input,
  fixtures: OPERATION_FIXTURES,
  key: operationKey,
  limit: 10_000,
});

/** Every configuration of the operation machine from one beginning, with every event. */
export function operationGraph(input: OperationInput, machine = operationMachine): OperationGraph {
  return explore(exploration(input, machine));
}

export interface OperationRoute {
  readonly input: OperationInput;
  readonly path: Path<SnapshotFrom<typeof operationMachine>>;
}

/** Every way of an operation that arrives while there is no connection, to each of its ends. */
export function operationRoutes(): OperationRoute[] {
  return OPERATION_BEGINNINGS.filter(
    ([, { kind, evidence }]) => kind === 'tool' && evidence === null,
  ).flatMap(([, input]) =>
    simplePaths(exploration(input, operationMachine)).map((path) => ({ input, path })),
  );
}
