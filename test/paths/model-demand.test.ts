// Level 1, both machines: for every ownership, kind, policy and execution, and however often an operation was sent,
// what one demands and what the other makes of it.
import { expect, it } from 'vitest';
import { DEMANDS, demandsFromJudging, MACHINES, type Machines, nameOf } from './demand-graph.ts';
import { DEMAND_PROPERTIES } from './demand-properties.ts';

it.each(DEMAND_PROPERTIES)('$name', ({ counterexample }) => {
  expect(counterexample(MACHINES)).toBeUndefined();
});

it('the demands of operations on owned connections are those of the rule of replay', () => {
  const allowed = ['safe, unsent', 'safe, none', 'safe, unknown', 'if-unsent, unsent', 'if-unsent, none'];
  const must = DEMANDS.map(nameOf).filter((name) =>
    [...allowed, 'never, unsent'].some((each) => name.endsWith(`, ${each}`)),
  );
  expect([...demandsFromJudging(MACHINES, 'supervisor').keys()].sort()).toEqual(must.sort());
});

const { connectionMachine, operationMachine } = MACHINES;
const connection = (guard: 'ownedBySupervisor' | 'operationMayBeSent', holds: boolean) => ({
  connectionMachine: connectionMachine.provide({ guards: { [guard]: () => holds } }),
});

/** For each property, in order, something that breaks it. */
const BROKEN: readonly Partial<Machines>[] = [
  connection('operationMayBeSent', false),
  connection('operationMayBeSent', true),
  connection('ownedBySupervisor', true),
  { operationMachine: operationMachine.provide({ guards: { ownedByCallerAndLost: () => false } }) },
];

it.each(DEMAND_PROPERTIES.map(({ name }, index) => [name, index] as const))(
  'the search can fail: %s',
  (_name, index) => {
    expect(DEMAND_PROPERTIES[index]!.counterexample({ ...MACHINES, ...BROKEN[index] })).toBeDefined();
  },
);
