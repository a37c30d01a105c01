/** The hand-written rows as text: for the head of each machine's file, and for docs/recovery-routes.md. */

/** What the rows of both machines have in common. */
export interface AnyRow {
  readonly from: string;
  readonly whose: 'own' | 'lent' | 'any';
  readonly on: string;
  readonly when?: string | undefined;
  readonly to: string;
}

interface Line extends Omit<AnyRow, 'on'> {
  readonly on: string[];
}

/** Rows that differ in their event only are one line. */
function lines(rows: readonly AnyRow[]): Line[] {
  const all: Line[] = [];
  for (const { on, ...row } of rows) {
    const same = all.find(
      ({ from, whose, when, to }) =>
        from === row.from && whose === row.whose && when === row.when && to === row.to,
    );
    if (same === undefined) all.push({ ...row, on: [on] });
    else same.on.push(on);
  }
  return all;
}

/** As it stands in the head of the machine's file, without the comment's stars. */
export function headTable(rows: readonly AnyRow[]): string {
  const table = lines(rows).flatMap(({ from, whose, to, on, when }, index, all) => {
    const condition = when === undefined ? '' : ` [${when}]`;
    const [first, ...more] = broken(on, condition.length);
    const start = [from === all[index - 1]?.from ? '' : from, whose, to, first ?? ''];
    const cells = [start, ...more.map((events) => ['', '', '', events])];
    cells.at(-1)![3] += condition;
    return cells;
  });
  const all = [['from', 'whose', 'to', 'on [if]'], ...table];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((cells) => cells[column]!.length)) + 2);
  return all
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

/** The widest that the last column of a head's table may be. */
const LAST_COLUMN = 60;

/** The names of events, on as many lines as they need; the condition follows on the last. */
function broken(events: readonly string[], condition: number): string[] {
  const all: string[] = [];
  for (const event of events) {
    const last = all.at(-1);
    const joined = `${last}; ${event}`;
    if (last !== undefined && joined.length + condition <= LAST_COLUMN) all[all.length - 1] = joined;
    else all.push(event);
  }
  return all.map((line, index) => (index < all.length - 1 ? `${line};` : line));
}

export function markdownTable(rows: readonly AnyRow[]): string {
  return tableOf(
    ['from', 'whose', 'on', 'if', 'to'],
    lines(rows).map(({ from, whose, to, on, when = '' }) => [
      `\`${from}\``,
      whose,
      on.join('; '),
      when,
      `\`${to}\``,
    ]),
  );
}

export function tableOf(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** For a drawing: every loss goes through `lost`, a row of two states is drawn from both, and `close` is left out. */
export function coarseRows(rows: readonly AnyRow[]): AnyRow[] {
  return rows
    .filter(({ on }) => on !== 'close')
    .flatMap((row) =>
      row.from === 'ready'
        ? ['steady', 'probing', 'suspect', 'unreachable'].map((sub) => ({ ...row, from: `ready.${sub}` }))
        : row,
    )
    .flatMap((row) => {
      const isLoss = row.from.startsWith('ready.') && /^(lost|probe lost|unanswered|no server)/.test(row.on);
      if (!isLoss || row.to.startsWith('ready.')) return [row];
      const decided = row.whose === 'lent' ? 'at once' : (row.when ?? '').replace(/^(missed|slept), /, '');
      const toLost = { ...row, whose: 'any' as const, to: 'lost' };
      return row.to === 'lost' ? [toLost] : [toLost, { ...row, from: 'lost', on: decided }];
    });
}

/** A state diagram; the states that lie within another one (`ready.probing`) are drawn in it. */
export function mermaid(
  rows: readonly AnyRow[],
  initial: readonly string[],
  final: readonly string[],
): string {
  const states = [...new Set(rows.flatMap(({ from, to }) => [from, to]))];
  const parents = [
    ...new Set(states.filter((state) => state.includes('.')).map((state) => state.split('.')[0]!)),
  ];
  const groups = parents.flatMap((parent) => [
    `  state "${parent}" as ${idOf(parent)} {`,
    ...states
      .filter((state) => state.startsWith(`${parent}.`))
      .map((state) => `    ${named(state, state.split('.')[1]!)}`),
    '  }',
  ]);
  const alone = states.filter((state) => !state.includes('.')).map((state) => `  ${named(state, state)}`);
  const arrows = new Map<string, string[]>();
  for (const { from, to, on, whose } of rows) {
    const arrow = `${idOf(from)} --> ${idOf(to)}`;
    const label = whose === 'any' ? on : `${whose}: ${on}`;
    const labels = arrows.get(arrow) ?? [];
    if (!labels.includes(label)) arrows.set(arrow, [...labels, label]);
  }
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...alone,
    ...groups,
    ...initial.map((state) => `  [*] --> ${idOf(state)}`),
    ...[...arrows].map(([arrow, labels]) => `  ${arrow}: ${labels.map(plain).join(', ')}`),
    ...final.map((state) => `  ${idOf(state)} --> [*]`),
    '```',
  ].join('\n');
}

const idOf = (state: string): string => state.replaceAll(/[^a-z]/gi, '_');
const named = (state: string, name: string): string => `state "${name}" as ${idOf(state)}`;
/** A colon or a semicolon would end a label. */
const plain = (label: string): string => label.replaceAll(/[:;]/g, ' ').replaceAll('  ', ' ');
