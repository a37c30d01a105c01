/** A machine as a drawing has it: its states and its transitions, with names that a person reads. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

export interface ChartState {
  /** The path from the root: `ready.probing`. */
  readonly id: string;
  readonly name: string;
  readonly parent: string | undefined;
  /** Entered first in its parent. */
  readonly initial: boolean;
  readonly final: boolean;
}

export interface ChartTransition {
  readonly from: string;
  readonly to: string;
  readonly event: string;
  readonly guard: string | undefined;
}

export interface Chart {
  readonly id: string;
  readonly states: readonly ChartState[];
  readonly transitions: readonly ChartTransition[];
}

export function chartOf(machine: AnyStateMachine): Chart {
  const nodes = [...nodesBelow(machine.root)];
  return {
    id: machine.id,
    states: nodes.map((node) => ({
      id: pathOf(node),
      name: node.key,
      parent: node.parent === machine.root ? undefined : pathOf(node.parent as AnyStateNode),
      initial: node.parent?.initial.target.includes(node) ?? false,
      final: node.type === 'final',
    })),
    transitions: [machine.root, ...nodes].flatMap((node) => transitionsOf(machine, node)),
  };
}

function* nodesBelow(node: AnyStateNode): Generator<AnyStateNode> {
  for (const child of Object.values(node.states)) {
    yield child;
    yield* nodesBelow(child);
  }
}

function pathOf(node: AnyStateNode): string {
  return node.path.join('.');
}

/** One that stays where it is changes no picture. */
function transitionsOf(machine: AnyStateMachine, node: AnyStateNode): ChartTransition[] {
  const taken = [...node.transitions.values()].flat();
  return [...taken, ...(node.always ?? [])].flatMap(({ eventType, guard, target }) =>
    (target ?? []).map((to) => ({
      from: pathOf(node),
      to: pathOf(to),
      event: eventName(machine, eventType),
      guard: guardName(guard),
    })),
  );
}

/** XState's own names for what an invoked actor or a timer says, in words. */
export function eventName(machine: AnyStateMachine, type: string): string {
  if (type === '') return 'always';
  if (type === 'xstate.init') return 'created';
  const after = /^xstate\.after\.([^.]+)\./.exec(type);
  if (after !== null) return `after ${after[1]}`;
  const actor = /^xstate\.(done|error)\.actor\.\d+\.(.+)$/.exec(type);
  if (actor === null) return type;
  const [, outcome, id] = actor;
  const source = machine.getStateNodeById(id as string).invoke[0]?.src;
  return `${source} ${outcome === 'done' ? 'done' : 'failed'}`;
}

/** `and([...])` is a function that carries its parts. */
function guardName(guard: unknown): string | undefined {
  if (guard === undefined || typeof guard === 'string') return guard;
  const { type, guards } = guard as { type?: string; guards?: readonly unknown[] };
  return type ?? guards?.map(guardName).join(' and ');
}
