/** The figures of `npm run routes`: what the graphs contain, which properties hold, and what the last runs came to. */
import type { AnyStateMachine } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { leafStates } from '../support/machine-names.ts';
import { connectionGraph } from './connection-graph.ts';
import { CONNECTION_PROPERTIES } from './connection-properties.ts';
import { SETTINGS } from './connection-tour.ts';
import { MACHINES } from './demand-graph.ts';
import { DEMAND_PROPERTIES } from './demand-properties.ts';
import { allRoutes } from './generated-routes.ts';
import type { Graph } from './graph.ts';
import { keptRun, LIVE_RUNS, type LiveRun } from './last-run.ts';
import { OPERATION_BEGINNINGS, operationGraph, operationRoutes } from './operation-graph.ts';
import { OPERATION_PROPERTIES } from './operation-properties.ts';
import type { Property } from './property.ts';

export interface MachineFigures {
  readonly id: string;
  readonly states: number;
  /** Transitions that the machine's config has. */
  readonly transitions: number;
  /** Configurations that can be reached, over all settings. */
  readonly configurations: number;
  readonly routes: number;
  readonly properties: readonly { readonly name: string; readonly holds: boolean }[];
}

export interface Figures {
  readonly machines: readonly MachineFigures[];
  /** What holds between the two machines. */
  readonly between: MachineFigures['properties'];
  readonly live: LiveRun;
  readonly mutants: { readonly killed: number; readonly total: number };
}

export function figures(lastRun = keptRun): Figures {
  const live = LIVE_RUNS.map((name) => lastRun(name) ?? { routes: 0, passed: 0 });
  const { killed, total } = lastRun('mutants') ?? { killed: 0, total: 0 };
  return {
    machines: [connectionFigures(), operationFigures()],
    between: checked(DEMAND_PROPERTIES, [MACHINES]),
    live: { routes: sum(live.map(({ routes }) => routes)), passed: sum(live.map(({ passed }) => passed)) },
    mutants: { killed, total },
  };
}

function connectionFigures(): MachineFigures {
  const graphs = Object.values(SETTINGS).map((settings) => connectionGraph(settings));
  const routes = (['own', 'lent'] as const).flatMap((whose) =>
    (['http', 'stdio'] as const).map((transport) => allRoutes(whose, transport).length),
  );
  return machineFigures(connectionMachine, graphs, sum(routes), CONNECTION_PROPERTIES);
}

function operationFigures(): MachineFigures {
  const graphs = OPERATION_BEGINNINGS.map(([, input]) => operationGraph(input));
  return machineFigures(operationMachine, graphs, operationRoutes().length, OPERATION_PROPERTIES);
}

function machineFigures<S>(
  machine: AnyStateMachine,
  graphs: readonly Graph<S>[],
  routes: number,
  properties: readonly Property<Graph<S>>[],
): MachineFigures {
  return {
    id: machine.id,
    states: leafStates(machine).length,
    transitions: transitionsOf(machine),
    configurations: sum(graphs.map(({ configurations }) => configurations.size)),
    routes,
    properties: checked(properties, graphs),
  };
}

function checked<G>(properties: readonly Property<G>[], graphs: readonly G[]): MachineFigures['properties'] {
  return properties.map(({ name, counterexample }) => ({
    name,
    holds: graphs.every((graph) => counterexample(graph) === undefined),
  }));
}

function transitionsOf({ root }: AnyStateMachine): number {
  const nodes = [root];
  for (const node of nodes) nodes.push(...Object.values(node.states));
  return sum(
    nodes.map(
      ({ transitions, always }) =>
        sum([...transitions.values()].map((list) => list.length)) + (always?.length ?? 0),
    ),
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
