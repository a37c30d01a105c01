// Level 1, the operation: every configuration from everything that an operation in trouble can begin with, for every
// ownership, kind and policy, searched for a counterexample to each property.
import { describe, expect, it } from 'vitest';
import { assign } from 'xstate';
import { operationMachine } from '../../machines/operation.machine.ts';
import type { Evidence } from '../../machines/vocabulary.ts';
import { OPERATION_BEGINNINGS, operationGraph } from './operation-graph.ts';
import { OPERATION_PROPERTIES } from './operation-properties.ts';
import { type LooseConfig, rebuilt } from './rebuilt.ts';

const GRAPHS = OPERATION_BEGINNINGS.map(([name, input]) => [name, operationGraph(input)] as const);

describe.each(OPERATION_PROPERTIES)('$name', ({ counterexample }) => {
  it('has no counterexample', () => {
    const found = GRAPHS.flatMap(([name, graph]) => {
      const wrong = counterexample(graph);
      return wrong === undefined ? [] : [`${name}: ${wrong}`];
    });
    expect(found).toEqual([]);
  });
});

const changed = (change: (config: LooseConfig) => void) => rebuilt(operationMachine, change);
/** `most`: it stays bounded, so that the search comes to an end. */
const careless = (most: number) =>
  operationMachine.provide({ guards: { mayBeSent: ({ context }) => context.sends < most } });

/** For each property, in order, a machine that breaks it. */
const BROKEN: readonly (typeof operationMachine)[] = [
  careless(2),
  changed(({ states }) => {
    states.sending.on.failed.actions.type = 'rememberLastEvidence';
  }).provide({
    actions: { rememberLastEvidence: assign((_, evidence: Evidence) => ({ evidence })) } as never,
  }),
  careless(2),
  changed(({ states }) => states.judging.always.splice(1, 2)),
  careless(3),
  changed(({ states }) => states.judging.always.shift()),
  changed(({ states }) => states.judging.always.splice(3, 1)),
  changed(({ states }) => delete states['passed-through'].type),
];

it.each(OPERATION_PROPERTIES.map(({ name }, index) => [name, index] as const))(
  'the search can fail: %s',
  (_name, index) => {
    const { counterexample } = OPERATION_PROPERTIES[index]!;
    // Of one kind: the machine does not look at it.
    const inputs = OPERATION_BEGINNINGS.filter(([, { kind }]) => kind === 'tool');
    const found = inputs.map(([, input]) => counterexample(operationGraph(input, BROKEN[index])));
    expect(found.some((each) => each !== undefined)).toBe(true);
  },
);
