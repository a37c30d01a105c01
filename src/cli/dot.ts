import type { Chart, ChartState } from '../inspect/chart.ts';

/** For Graphviz. A state with states inside is a cluster; an arrow to it ends at its edge. */
export function dot({ id, states, transitions }: Chart): string {
  const leafOf = (state: string): string => {
    const first = states.find(({ parent, initial }) => parent === state && initial);
    return first === undefined ? state : leafOf(first.id);
  };
  const edge = (name: string, state: string) =>
    leafOf(state) === state ? '' : `, ${name}="cluster_${state}"`;
  const arrows = transitions.map(({ from, to, event, guard }) => {
    const label = guard === undefined ? event : `${event}\\n[${guard}]`;
    const ends = `"${leafOf(from) || 'any state'}" -> "${leafOf(to)}"`;
    return `  ${ends} [label="${label}"${from && edge('ltail', from)}${edge('lhead', to)}];`;
  });
  return [
    `digraph ${id} {`,
    '  compound=true;',
    '  node [shape=box, style=rounded];',
    ...inside(states, undefined, '  '),
    ...arrows,
    '}',
    '',
  ].join('\n');
}

function inside(states: readonly ChartState[], parent: string | undefined, indent: string): string[] {
  return states
    .filter((state) => state.parent === parent)
    .flatMap(({ id, name, final }) => {
      const within = inside(states, id, `${indent}  `);
      if (within.length === 0)
        return [`${indent}"${id}" [label="${name}"${final ? ', peripheries=2' : ''}];`];
      return [`${indent}subgraph "cluster_${id}" {`, `${indent}  label="${name}";`, ...within, `${indent}}`];
    });
}
