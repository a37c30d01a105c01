/**
 * Names that a machine's config uses and its implementations do not have. XState says nothing about these: a
 * missing action is skipped, a misspelt delay fires at once.
 */
import type { AnyStateMachine } from 'xstate';

type Kind = 'guards' | 'actions' | 'actors' | 'delays';

interface NamedNode {
  entry?: unknown;
  exit?: unknown;
  invoke?: unknown;
  always?: unknown;
  on?: Record<string, unknown>;
  after?: Record<string, unknown>;
  states?: Record<string, NamedNode>;
}

/** Every name that the config uses, as `kind: name`. */
export function namesUsed(machine: AnyStateMachine): Set<string> {
  const names = new Set<string>();
  const add = (kind: Kind, name: string) => names.add(`${kind}: ${name}`);

  const guard = (value: unknown): void => {
    if (value === undefined) return;
    if (typeof value === 'string') return void add('guards', value);
    // `and`, `or` and `not` hold others; `stateIn` holds none.
    for (const inner of (value as { guards?: unknown[] }).guards ?? []) guard(inner);
    if (typeof value === 'object') add('guards', (value as { type: string }).type);
  };
  const actions = (value: unknown): void => {
    for (const action of asList(value)) {
      if (typeof action === 'function') continue;
      add('actions', typeof action === 'string' ? action : (action as { type: string }).type);
    }
  };
  const transitions = (value: unknown): void => {
    for (const transition of asList(value)) {
      if (typeof transition === 'string') continue;
      const { guard: condition, actions: effects } = transition as { guard?: unknown; actions?: unknown };
      guard(condition);
      actions(effects);
    }
  };
  const node = (config: NamedNode): void => {
    actions(config.entry);
    actions(config.exit);
    transitions(config.always);
    for (const each of Object.values(config.on ?? {})) transitions(each);
    for (const [delay, each] of Object.entries(config.after ?? {})) {
      if (Number.isNaN(Number(delay))) add('delays', delay);
      transitions(each);
    }
    for (const invoke of asList(config.invoke)) {
      const { src, onDone, onError } = invoke as { src: string; onDone?: unknown; onError?: unknown };
      add('actors', src);
      transitions(onDone);
      transitions(onError);
    }
    for (const child of Object.values(config.states ?? {})) node(child);
  };
  node(machine.config as NamedNode);
  return names;
}

export function unresolvedNames(machine: AnyStateMachine): string[] {
  const known = machine.implementations as unknown as Record<Kind, Record<string, unknown>>;
  return [...namesUsed(machine)].filter((each) => {
    const [kind, name] = each.split(': ') as [Kind, string];
    return known[kind][name] === undefined;
  });
}

/** Implementations that no name in the config asks for. */
export function unusedNames(machine: AnyStateMachine): string[] {
  const used = namesUsed(machine);
  const known = machine.implementations as unknown as Record<Kind, Record<string, unknown>>;
  return Object.entries(known).flatMap(([kind, byName]) =>
    Object.keys(byName)
      .map((name) => `${kind}: ${name}`)
      .filter((each) => !used.has(each)),
  );
}

function asList(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** `ready.steady`, `closed`, … */
export function leafStates(machine: AnyStateMachine): string[] {
  const below = (states: Record<string, NamedNode>): string[] =>
    Object.entries(states).flatMap(([name, { states: inner }]) =>
      inner === undefined ? [name] : below(inner).map((leaf) => `${name}.${leaf}`),
    );
  return below((machine.config as NamedNode).states ?? {});
}
