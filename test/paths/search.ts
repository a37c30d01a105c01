/** Questions about a whole graph. */
import type { Edge } from './graph.ts';

function byStart<S>(edges: readonly Edge<S>[]): Map<string, Edge<S>[]> {
  const map = new Map<string, Edge<S>[]>();
  for (const edge of edges) {
    const list = map.get(edge.fromKey);
    if (list === undefined) map.set(edge.fromKey, [edge]);
    else list.push(edge);
  }
  return map;
}

/** All configurations after an edge of this kind, however far. */
export function reachableFrom<S>(edges: readonly Edge<S>[], begins: (edge: Edge<S>) => boolean): Set<string> {
  const next = byStart(edges);
  const reached = new Set(edges.filter(begins).map(({ toKey }) => toKey));
  for (const key of reached) for (const { toKey } of next.get(key) ?? []) reached.add(toKey);
  return reached;
}

/** An edge of this kind that can be come back to; edges that stay where they are do not count. */
export function cycleThrough<S>(
  edges: readonly Edge<S>[],
  matters: (edge: Edge<S>) => boolean,
): Edge<S> | undefined {
  return edges.find(
    (edge) =>
      edge.fromKey !== edge.toKey &&
      matters(edge) &&
      reachableFrom(edges, (each) => each === edge).has(edge.fromKey),
  );
}

/**
 * The most steps that these moves can make from here. Undefined if they can go on for ever, or if they can stop
 * anywhere else than at an end.
 */
export function longestPath<S>(
  moves: readonly Edge<S>[],
  from: string,
  isEnd: (snapshot: S) => boolean,
): number | undefined {
  const next = byStart(moves.filter(({ fromKey, toKey }) => fromKey !== toKey));
  const known = new Map<string, number | undefined>();
  const under = new Set<string>();
  const walk = (key: string): number | undefined => {
    if (known.has(key)) return known.get(key);
    if (under.has(key)) return undefined;
    under.add(key);
    let most: number | undefined = next.has(key) ? 0 : undefined;
    for (const { to, toKey } of next.get(key) ?? []) {
      const rest = isEnd(to) ? 0 : walk(toKey);
      most = rest === undefined || most === undefined ? undefined : Math.max(most, rest + 1);
    }
    under.delete(key);
    known.set(key, most);
    return most;
  };
  return walk(from);
}
