/** The two statecharts as they are drawn, and where the drawings are kept. */
import type { AnyStateMachine } from 'xstate';
import { connectionMachine } from '../machines/connection.machine.ts';
import { operationMachine } from '../machines/operation.machine.ts';
import { chartOf } from '../src/inspect/chart.ts';
import { layOut } from './layout.ts';
import { svgOf } from './svg.ts';

const MACHINES: readonly { readonly machine: AnyStateMachine; readonly title: string }[] = [
  { machine: connectionMachine, title: 'States of a connection' },
  { machine: operationMachine, title: 'States of an operation in trouble' },
];

/** The page shows a label when it is looked for; on the command line a drawing has to show them all. */
const PLACES = [
  { folder: new URL('../src/inspect/page/static/', import.meta.url), labelled: false },
  { folder: new URL('../src/cli/static/', import.meta.url), labelled: true },
];

export const CHARTS = PLACES.flatMap(({ folder, labelled }) =>
  MACHINES.map(({ machine, title }) => ({
    machine,
    title,
    labelled,
    file: new URL(`${machine.id}.svg`, folder),
  })),
);

export async function drawn({ machine, title, labelled }: (typeof CHARTS)[number]): Promise<string> {
  return svgOf(title, await layOut(chartOf(machine), labelled));
}
