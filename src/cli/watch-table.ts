/** The connections as a table, and a turn of one as a line, for a terminal. */
import Table from 'cli-table3';
import pc from 'picocolors';
import type { ConnectionState } from '../../machines/connection.machine.ts';
import { CAUSE_TEXT } from '../cause-text.ts';
import type { ConnectionHandle } from '../handles.ts';
import type { Step } from '../inspect/steps.ts';
import type { ConnectionStatus } from '../status.ts';
import { printable } from './printable.ts';

const COLOURS: Partial<Record<ConnectionState, (text: string) => string>> = {
  ready: pc.green,
  connecting: pc.yellow,
  recreating: pc.yellow,
  lost: pc.red,
  exhausted: pc.red,
  'failed-ownership': pc.red,
};

/** The last are left out first where the terminal is narrow. */
const COLUMNS = [
  { title: 'connection', width: 24, cell: ({ connection }: ConnectionStatus) => printable(connection) },
  { title: 'state', width: 17, cell: ({ state }: ConnectionStatus) => (COLOURS[state] ?? String)(state) },
  { title: 'since', width: 8, cell: ({ since }: ConnectionStatus) => ago(since) },
  { title: 'gen', width: 7, cell: ({ generation }: ConnectionStatus) => String(generation) },
  {
    title: 'last error',
    width: 22,
    cell: ({ reason, lastError }: ConnectionStatus) => reason ?? lastError?.cause ?? '',
  },
  { title: 'in flight', width: 11, cell: ({ inFlight }: ConnectionStatus) => String(inFlight) },
  { title: 'waiting', width: 9, cell: ({ waiting }: ConnectionStatus) => String(waiting) },
] as const;

/** Between the columns of a table without lines. */
const GAP = 2;
/** What is not a row: the head, the note on rows that do not fit, and an empty line on either side of the steps. */
const OTHER_LINES = 4;
const TABLE_SHARE = 2 / 3;

export function table(
  handles: readonly ConnectionHandle[],
  latest: readonly string[],
  columns: number,
  rows: number,
): string {
  const statuses = handles.map(({ status }) => status).sort((a, b) => rank(a) - rank(b));
  const troubles = statuses.flatMap((status) => troubleOf(status));
  const room = Math.max(1, rows - OTHER_LINES);
  // The table comes first; what is wrong and what happened last share what it leaves.
  const shown = statuses.slice(0, Math.max(1, Math.floor(room * TABLE_SHARE)));
  const left = room - shown.length;
  const said = troubles.slice(0, Math.ceil(left / 2));
  const happened = latest.slice(Math.max(0, latest.length - (left - said.length)));
  const fitting = COLUMNS.filter((_, index) => index === 0 || widthUpTo(index) <= columns);
  const grid = new Table({
    head: fitting.map(({ title }) => pc.dim(title)),
    colWidths: fitting.map(({ width }) => Math.min(width, columns)),
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
  });
  for (const status of shown) grid.push(fitting.map(({ cell }) => cell(status)));
  const hidden = statuses.length - shown.length;
  return [
    grid.toString(),
    ...(hidden > 0 ? [pc.dim(`and ${hidden} more that are ready, or do not fit`)] : []),
    ...said.map((line) => pc.yellow(cut(line, columns))),
    '',
    ...happened.map((line) => pc.dim(cut(line, columns))),
  ].join('\n');
}

/** Why it is not ready, where somebody has to see to that. Each is tried again by itself. */
function troubleOf({ connection, action, reason }: ConnectionStatus): string[] {
  if (action === undefined || reason === undefined) return [];
  return [printable(`${connection}: ${CAUSE_TEXT[reason]}`)];
}

/** What needs somebody comes first. */
function rank({ state, action }: ConnectionStatus): number {
  if (action !== undefined) return 0;
  return state === 'ready' ? 2 : 1;
}

function widthUpTo(index: number): number {
  return COLUMNS.slice(0, index + 1).reduce((sum, { width }) => sum + width, 0);
}

function ago(since: number): string {
  const seconds = Math.max(0, Math.round((Date.now() - since) / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3_600)} h`;
}

/** `12:00:01  files  lost: ready.steady → lost → recreating.opening  (generation 1, session-unknown)` */
export function lineOf({ at, connection, event, from, path, context, detail }: Step): string {
  const way = [from, ...path].filter(Boolean).join(' → ');
  const facts = [`generation ${context.generation}`, detail.cause ?? context.cause].filter(Boolean);
  const time = new Date(at).toTimeString().slice(0, 8);
  return printable(`${time}  ${connection}  ${event}: ${way}  (${facts.join(', ')})`);
}

function cut(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`;
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
};
