import type { Chart, ChartState } from '../inspect/chart.ts';

/** A `stateDiagram-v2`, which Markdown viewers draw. */
export function mermaid({ states, transitions }: Chart): string {
  const arrows = transitions.map(({ from, to, event, guard }) => {
    const label = guard === undefined ? event : `${event} [${guard}]`;
    // What can happen in every state has no state to start from.
    const [start, prefix] = from === '' ? ['[*]', 'any state: '] : [idOf(from), ''];
    return `  ${start} --> ${idOf(to)} : ${prefix}${label}`;
  });
  return ['stateDiagram-v2', ...inside(states, undefined, '  '), ...arrows, ''].join('\n');
}

function inside(states: readonly ChartState[], parent: string | undefined, indent: string): string[] {
  return states
    .filter((state) => state.parent === parent)
    .flatMap(({ id, name, initial, final }) => {
      const within = inside(states, id, `${indent}  `);
      const lines = [`${indent}state "${name}" as ${idOf(id)}`];
      if (within.length > 0) lines.push(`${indent}state ${idOf(id)} {`, ...within, `${indent}}`);
      if (initial) lines.push(`${indent}[*] --> ${idOf(id)}`);
      if (final) lines.push(`${indent}${idOf(id)} --> [*]`);
      return lines;
    });
}

/** Mermaid takes no dots and no dashes in an id. */
function idOf(state: string): string {
  return state.replaceAll(/[^a-zA-Z0-9]/g, '_');
}
