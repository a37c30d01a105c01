/** The two statecharts as they are drawn in the page, and where they are kept. */
import { connectionMachine } from '../machines/connection.machine.ts';
import { operationMachine } from '../machines/operation.machine.ts';
import { chartOf } from '../src/inspect/chart.ts';
import { layOut } from './layout.ts';
import { svgOf } from './svg.ts';

const FOLDER = new URL('../src/inspect/page/static/', import.meta.url);

export const CHARTS = [
  { machine: connectionMachine, title: 'States of a connection', file: new URL('connection.svg', FOLDER) },
  {
    machine: operationMachine,
    title: 'States of an operation in trouble',
    file: new URL('operation.svg', FOLDER),
  },
] as const;

export async function drawn({ machine, title }: (typeof CHARTS)[number]): Promise<string> {
  return svgOf(title, await layOut(chartOf(machine)));
}
