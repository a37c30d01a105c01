/** `mcp-steward graph`: one of the two machines, as text. */
import { readFileSync } from 'node:fs';
import type { AnyStateMachine } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { type Chart, chartOf } from '../inspect/chart.ts';
import type { Arguments } from './arguments.ts';
import { dot } from './dot.ts';
import { mermaid } from './mermaid.ts';
import { UsageError } from './usage-error.ts';

const MACHINES: Readonly<Record<string, AnyStateMachine>> = {
  connection: connectionMachine,
  operation: operationMachine,
};

const FORMATS: Readonly<Record<string, (chart: Chart) => string>> = {
  mermaid,
  dot,
  json: (chart) => `${JSON.stringify(chart, null, 2)}\n`,
  svg,
};

export async function graph({ operands: [name = 'connection'], options }: Arguments): Promise<number> {
  const format = chosen('format', FORMATS, options.format ?? 'mermaid');
  const machine = chosen('machine', MACHINES, name);
  process.stdout.write(format(chartOf(machine)));
  return 0;
}

function chosen<Value>(what: string, from: Readonly<Record<string, Value>>, name: string): Value {
  const found = Object.hasOwn(from, name) ? from[name] : undefined;
  if (found === undefined) {
    throw new UsageError(`there is no ${what} "${name}": expected ${Object.keys(from).join(', ')}`);
  }
  return found;
}

/** The drawings have no colours of their own: those of the page are given them by its style sheet. */
const STYLE =
  '<style>text{font:12px system-ui,sans-serif}.name{font-size:13px}.label{font-size:11px;fill:#456;stroke:#fff;stroke-width:3px;paint-order:stroke}.box{fill:#fff;stroke:#667}.composite .box{fill:#f3f4f7}.final .box{stroke-width:2.5}.line{fill:none;stroke:#889}.head{fill:#889}</style>';

function svg({ id }: Chart): string {
  const drawing = readFileSync(new URL(`./static/${id}.svg`, import.meta.url), 'utf8');
  return drawing.replace('<defs>', `${STYLE}<defs>`);
}
