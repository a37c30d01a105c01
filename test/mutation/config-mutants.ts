/** Our own small mutator over a machine's config: one change each, named by where it is and what it does. */
import { type AnyStateMachine, not } from 'xstate';
import { type LooseConfig, rebuilt } from '../paths/rebuilt.ts';

export interface ConfigMutant<M> {
  /** For example `connection.ready on lost: drop the guard`. */
  readonly name: string;
  /** Throws if the change does not even make a machine. */
  readonly make: () => M;
}

interface Names {
  readonly guards: readonly string[];
  readonly delays: readonly string[];
  /** Every state without others in it, as a target: `#connection.ready.steady`. */
  readonly targets: readonly string[];
  /** Where a target of this state really leads. */
  readonly leafOf: (target: string, id: string) => string;
}

/** Collects changes; each is a path into the config and what to do there. */
class Collector {
  readonly changes: { name: string; change: (config: LooseConfig) => void }[] = [];

  /** `path` leads to the node that `edit` changes. */
  add(name: string, path: readonly (string | number)[], edit: (node: LooseConfig) => void): void {
    this.changes.push({
      name,
      change: (config) => edit(path.reduce((node, key) => node[key], config)),
    });
  }
}

export function configMutants<M extends AnyStateMachine>(machine: M): ConfigMutant<M>[] {
  const names: Names = {
    guards: Object.keys(machine.implementations.guards),
    delays: Object.keys(machine.implementations.delays),
    targets: targetsIn(machine.config as LooseConfig, `#${machine.id}`),
    leafOf: (target, id) => leafOf(machine.config as LooseConfig, target, id),
  };
  const collector = new Collector();
  mutateState(collector, machine.config as LooseConfig, [], machine.id, names);
  return collector.changes.map(({ name, change }) => ({ name, make: () => rebuilt(machine, change) }));
}

function targetsIn({ states = {} }: LooseConfig, id: string): string[] {
  const names = Object.keys(states);
  return names.length === 0 ? [id] : names.flatMap((name) => targetsIn(states[name], `${id}.${name}`));
}

/** `sibling`, `.child` or `#machine.state`; and if that has states in it, the first of them. */
function leafOf(config: LooseConfig, target: string, id: string): string {
  const parent = id.split('.').slice(0, -1).join('.');
  const whole = target.startsWith('#')
    ? target
    : target.startsWith('.')
      ? `#${id}${target}`
      : `#${parent}.${target}`;
  const names = whole.split('.').slice(1);
  let state = names.reduce((node, name) => node.states[name], config);
  for (; state.initial !== undefined; state = state.states[state.initial]) names.push(state.initial);
  return [`#${config.id}`, ...names].join('.');
}

function mutateState(
  collector: Collector,
  state: LooseConfig,
  path: readonly (string | number)[],
  id: string,
  names: Names,
): void {
  const { initial, states = {}, entry, invoke, on = {}, after = {}, always, type } = state;
  mutateActions(collector, entry, path, 'entry', `${id} entry`);
  for (const other of Object.keys(states)) {
    if (initial !== other)
      collector.add(`${id}: begin in ${other}`, path, (node) => {
        node.initial = other;
      });
  }
  if (type === 'final') collector.add(`${id}: no end`, path, (node) => void delete node.type);
  if (always !== undefined) mutateTransitions(collector, always, [...path, 'always'], `${id} always`, names);
  for (const event of Object.keys(on)) {
    mutateTransitions(collector, on[event], [...path, 'on', event], `${id} on ${event}`, names);
  }
  for (const delay of Object.keys(after)) {
    mutateTransitions(collector, after[delay], [...path, 'after', delay], `${id} after ${delay}`, names);
    for (const other of names.delays) {
      if (other === delay) continue;
      collector.add(`${id} after ${delay}: after ${other} instead`, [...path, 'after'], (node) => {
        node[other] = node[delay];
        delete node[delay];
      });
    }
  }
  if (invoke !== undefined) {
    collector.add(`${id}: do not invoke ${invoke.src}`, path, (node) => void delete node.invoke);
    for (const end of ['onDone', 'onError']) {
      if (invoke[end] === undefined) continue;
      mutateTransitions(
        collector,
        invoke[end],
        [...path, 'invoke', end],
        `${id} ${invoke.src} ${end}`,
        names,
      );
    }
  }
  for (const [name, child] of Object.entries(states)) {
    mutateState(collector, child, [...path, 'states', name], `${id}.${name}`, names);
  }
}

/** One transition, or several of which the first whose guard holds is taken. */
function mutateTransitions(
  collector: Collector,
  transitions: LooseConfig,
  path: readonly (string | number)[],
  where: string,
  names: Names,
): void {
  const owner = path.slice(0, -1);
  const key = path.at(-1)!;
  if (!Array.isArray(transitions)) {
    collector.add(`${where}: drop it`, owner, (node) => void delete node[key]);
    mutateTransition(collector, transitions, path, where, names);
    return;
  }
  for (const [index, transition] of transitions.entries()) {
    collector.add(`${where} ${index}: drop it`, path, (list) => void list.splice(index, 1));
    if (index > 0) {
      collector.add(`${where} ${index}: before the one before it`, path, (list) => {
        [list[index - 1], list[index]] = [list[index], list[index - 1]];
      });
    }
    mutateTransition(collector, transition, [...path, index], `${where} ${index}`, names);
  }
}

function mutateTransition(
  collector: Collector,
  transition: LooseConfig,
  path: readonly (string | number)[],
  where: string,
  names: Names,
): void {
  const { target, guard, actions } = transition;
  if (target === undefined) {
    const [id] = where.split(' ');
    collector.add(`${where}: enter ${id} anew`, path, (node) => {
      Object.assign(node, { reenter: true, target: `#${id}` });
    });
  } else {
    collector.add(`${where}: go nowhere`, path, (node) => void delete node.target);
    const leaf = names.leafOf(target, where.split(' ')[0]!);
    for (const other of names.targets) {
      if (other === leaf) continue;
      collector.add(`${where}: to ${other}`, path, (node) => {
        node.target = other;
      });
    }
  }
  if (guard !== undefined) mutateGuard(collector, guard, path, where, names);
  mutateActions(collector, actions, path, 'actions', where);
}

function mutateGuard(
  collector: Collector,
  guard: LooseConfig,
  path: readonly (string | number)[],
  where: string,
  { guards }: Names,
): void {
  collector.add(`${where}: drop the guard`, path, (node) => void delete node.guard);
  collector.add(`${where}: negate the guard`, path, (node) => {
    node.guard = not(node.guard);
  });
  const parts: readonly string[] = guard.guards ?? [];
  for (const part of parts)
    collector.add(`${where}: only ${part}`, path, (node) => {
      node.guard = part;
    });
  // Those with params judge what other events do not have.
  if (typeof guard !== 'string') return;
  for (const other of guards) {
    if (other === guard) continue;
    collector.add(`${where}: guard ${other}`, path, (node) => {
      node.guard = other;
    });
  }
}

function mutateActions(
  collector: Collector,
  actions: LooseConfig,
  path: readonly (string | number)[],
  key: 'entry' | 'actions',
  where: string,
): void {
  const list: LooseConfig[] = actions === undefined ? [] : [actions].flat();
  for (const [index, action] of list.entries()) {
    const name = typeof action === 'string' ? action : action.type;
    collector.add(`${where}: drop the action ${name}`, path, (node) => {
      node[key] = [node[key]].flat().filter((_: unknown, at: number) => at !== index);
    });
    if (index > 0) {
      collector.add(`${where}: ${name} before the action before it`, path, (node) => {
        [node[key][index - 1], node[key][index]] = [node[key][index], node[key][index - 1]];
      });
    }
  }
}
