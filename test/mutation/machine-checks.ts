/** Everything that judges a machine without a process: what the mutation run asks of each mutant. */
import type { connectionMachine } from '../../machines/connection.machine.ts';
import type { operationMachine } from '../../machines/operation.machine.ts';
import { connectionGraph } from '../paths/connection-graph.ts';
import { CONNECTION_PROPERTIES } from '../paths/connection-properties.ts';
import { CONNECTION_ROWS, type Row } from '../paths/connection-table.ts';
import { SETTINGS, tour } from '../paths/connection-tour.ts';
import { MACHINES } from '../paths/demand-graph.ts';
import { DEMAND_PROPERTIES } from '../paths/demand-properties.ts';
import { OPERATION_ROWS } from '../paths/operation-table.ts';
import { operationTour } from '../paths/operation-tour.ts';
import type { Property } from '../paths/property.ts';

/** Most mutants are noticed wherever one looks; a budget of one attempt has far fewer configurations. */
const CHEAP_FIRST = Object.values(SETTINGS).sort(
  (a, b) =>
    (a.ownership === undefined ? (a.maxAttempts ?? 0) : 0) -
    (b.ownership === undefined ? (b.maxAttempts ?? 0) : 0),
);

/** Why it is not the machine that the tables describe. Undefined if nothing was noticed. */
export async function whyNotTheConnection(machine: typeof connectionMachine): Promise<string | undefined> {
  try {
    const walked = new Set<Row>();
    for (const settings of CHEAP_FIRST) {
      for (const row of await tour(settings, machine)) walked.add(row);
    }
    const left = CONNECTION_ROWS.find((row) => !walked.has(row));
    if (left !== undefined) return `never walked: ${JSON.stringify(left)}`;
    for (const settings of Object.values(SETTINGS)) {
      const graph = connectionGraph(settings, machine, 'one kind');
      const found = counterexampleIn(graph, CONNECTION_PROPERTIES);
      if (found !== undefined) return found;
    }
    return counterexampleIn({ ...MACHINES, connectionMachine: machine }, DEMAND_PROPERTIES);
  } catch (error) {
    return String(error);
  }
}

function counterexampleIn<G>(graph: G, properties: readonly Property<G>[]): string | undefined {
  for (const { name, counterexample } of properties) {
    const found = counterexample(graph);
    if (found !== undefined) return `${name} But: ${found}`;
  }
  return undefined;
}

export async function whyNotTheOperation(machine: typeof operationMachine): Promise<string | undefined> {
  try {
    const walked = operationTour(machine);
    const left = OPERATION_ROWS.find((row) => !walked.has(row));
    return left && `never walked: ${JSON.stringify(left)}`;
  } catch (error) {
    return String(error);
  }
}
