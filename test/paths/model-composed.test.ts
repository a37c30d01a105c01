// Level 1, a connection with one, two and three operations: every configuration that they can reach together, searched
// for a counterexample to each property. One operation meets everything that can happen; several meet what a loss and
// a recreation need, because the product grows with each (composed-environment.ts).
import { describe, expect, it } from 'vitest';
import { assign } from 'xstate';
import type { Evidence } from '../../machines/vocabulary.ts';
import { COMPOSITIONS, composedGraph } from './composed-graph.ts';
import { REAL } from './composed-parts.ts';
import { COMPOSED_PROPERTIES } from './composed-properties.ts';
import { type LooseConfig, rebuilt } from './rebuilt.ts';

const GRAPHS = Object.entries(COMPOSITIONS).map(
  ([name, composition]) => [name, composedGraph(composition)] as const,
);

describe.each(COMPOSED_PROPERTIES)('$name', ({ counterexample }) => {
  it.each(GRAPHS)('%s', (_name, graph) => {
    expect(counterexample(graph)).toBeUndefined();
  });
});

const { connectionMachine, operationMachine } = REAL;

const connection = (change: (config: LooseConfig) => void) => ({
  connectionMachine: rebuilt(connectionMachine, change),
});
const operation = (part: Parameters<typeof operationMachine.provide>[0]) => ({
  operationMachine: operationMachine.provide(part),
});
/** `most`: it stays bounded, so that the search comes to an end. */
const careless = (most: number) =>
  operation({ guards: { mayBeSent: ({ context }) => context.sends < most } });

/** For each property, in order, something that breaks it, and where that shows. */
const BROKEN: readonly (readonly [where: string, parts: Partial<typeof REAL>])[] = [
  ['own: if-unsent', careless(2)],
  ['own: safe', careless(3)],
  [
    'own: safe',
    operation({ actions: { rememberEvidence: assign((_, evidence: Evidence) => ({ evidence })) } }),
  ],
  ['caller-client: safe', connection(({ states }) => states.lost.always.shift())],
  ['caller-client: safe', operation({ guards: { ownedByCallerAndLost: () => false } })],
  [
    'own: if-unsent, never',
    connection(({ states }) => {
      const { src, input } = states.recreating.states.opening.invoke;
      states.recreating.invoke = { src, input, id: 'another' };
    }),
  ],
  ['own: if-unsent, never', connection(({ states }) => delete states.ready.on.lost.guard)],
  ['own: if-unsent, never', connection(({ states }) => delete states.ready.on.lost.guard)],
  [
    'own: safe',
    connection(({ states }) => {
      states.closing.on = { demand: { target: '#connection.recreating.opening' } };
    }),
  ],
  [
    'own: safe',
    {
      answerToWaiting: (present) =>
        present.state === 'exhausted' ? undefined : REAL.answerToWaiting(present),
    },
  ],
  [
    'own: safe',
    connection(({ states }) => {
      states.recreating.states.opening.entry = [];
    }),
  ],
];

it.each(COMPOSED_PROPERTIES.map(({ name }, index) => [name, index] as const))(
  'the search can fail: %s',
  (_name, index) => {
    const [where, broken] = BROKEN[index]!;
    const graph = composedGraph(COMPOSITIONS[where]!, { ...REAL, ...broken });
    expect(COMPOSED_PROPERTIES[index]!.counterexample(graph)).toMatch(/ > |Infinity/);
  },
);
