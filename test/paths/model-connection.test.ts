// Level 1, the connection: every configuration that the machine can reach, for every ownership and demands of
// every kind of operation, searched for a counterexample to each property.
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { connectionGraph } from './connection-graph.ts';
import { CONNECTION_PROPERTIES } from './connection-properties.ts';
import { SETTINGS } from './connection-tour.ts';
import { type LooseConfig, rebuilt } from './rebuilt.ts';

const GRAPHS = Object.entries(SETTINGS).map(([name, settings]) => [name, connectionGraph(settings)] as const);

describe.each(CONNECTION_PROPERTIES)('$name', ({ counterexample }) => {
  it.each(GRAPHS)('%s', (_name, graph) => {
    expect(counterexample(graph)).toBeUndefined();
  });
});

const changed = (change: (config: LooseConfig) => void) => rebuilt(connectionMachine, change);

/** For each property, in order, a machine that breaks it. */
const BROKEN: readonly (typeof connectionMachine)[] = [
  changed(({ states }) => states.lost.always.shift()),
  changed(({ states }) => {
    states['failed-ownership'].on.replaced = { target: '#connection.ready', actions: 'beginGeneration' };
  }),
  changed(({ states }) => states.lost.always.shift()),
  changed(({ states }) => {
    states.lost.always = [states.lost.always[0]];
  }),
  connectionMachine.provide({ guards: { probeProvesLoss: (_, { verdict }) => verdict !== 'usable' } }),
  connectionMachine.provide({ guards: { operationMayBeSent: () => true } }),
  changed(({ states }) => delete states.ready.on.lost.guard),
  changed(({ states }) => {
    states.recreating.states.backingOff.after.backoff.target = 'opening';
  }),
  changed(({ states }) => {
    states.recreating.states.retiring.entry = ['countAttempt', 'beginGeneration'];
  }),
  changed(({ states }) => {
    states.ready.states.steady.on.suspected.target = '#connection.lost';
  }),
  changed(({ states }) => {
    const { src, input } = states.recreating.states.opening.invoke;
    states.recreating.invoke = { src, input, id: 'another' };
  }),
  changed(({ states }) => {
    states.connecting.states.opening.invoke.onError = { target: '#connection.recreating.retiring' };
  }),
  changed(({ states }) => states.ready.entry.push('giveBackAttempts')),
  changed(({ states }) => states.ready.entry.push('giveBackAttempts')),
  changed(({ states }) => {
    states.ready.on.answered.actions = 'giveBackAttempts';
  }),
  changed(({ states }) => {
    states.exhausted.states.signedOut.after.coolDown = {
      target: '#connection.connecting',
      actions: 'allowOneTrial',
    };
  }),
  changed(({ states }) => {
    states.recreating.states.retiring.entry = [];
  }),
  changed(({ states }) => {
    states.closing.on = {
      reconnect: { target: '#connection.recreating.retiring', actions: 'giveBackAttempts' },
    };
  }),
  changed(({ states }) => delete states.exhausted.on.close),
];

it.each(CONNECTION_PROPERTIES.map(({ name }, index) => [name, index] as const))(
  'the search can fail: %s',
  (_name, index) => {
    const broken = BROKEN[index]!;
    const { counterexample } = CONNECTION_PROPERTIES[index]!;
    const isFound = Object.values(SETTINGS).some(
      (settings) => counterexample(connectionGraph(settings, broken, 'one kind')) !== undefined,
    );
    expect(isFound).toBe(true);
  },
);
