// Level 1, the connection: every configuration that the machine can reach, for every ownership and every kind of
// stricken operation, searched for a counterexample to each property.
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

/** For each property, in order, a machine that breaks it. */
const BROKEN: ((config: LooseConfig) => void)[] = [
  ({ states }) => states.lost.always.shift(),
  ({ states }) => {
    states['failed-ownership'].on.replaced = { target: '#connection.ready', actions: 'beginGeneration' };
  },
  ({ states }) => states.lost.always.shift(),
  ({ states }) => {
    states.lost.always = [states.lost.always[0]];
  },
  ({ states }) => delete states.ready.on.lost.guard,
  ({ states }) => {
    states.recreating.states.opening.entry = ['countAttempt', 'beginGeneration'];
  },
  ({ states }) => {
    states.ready.states.steady.on.suspected.target = '#connection.lost';
  },
  ({ states }) => {
    const { src, input } = states.recreating.states.opening.invoke;
    states.recreating.invoke = { src, input, id: 'another' };
  },
  ({ states }) => {
    states.connecting.states.opening.invoke.onError = { target: '#connection.recreating' };
  },
  ({ states }) => states.ready.entry.push('giveBackAttempts'),
  ({ states }) => states.ready.entry.push('giveBackAttempts'),
  ({ states }) => {
    states.recreating.states.opening.entry = [];
  },
  ({ states }) => {
    states.closing.on = {
      reconnect: { target: '#connection.recreating.opening', actions: 'giveBackAttempts' },
    };
  },
  ({ states }) => delete states.exhausted.on.close,
];

it.each(CONNECTION_PROPERTIES.map(({ name }, index) => [name, index] as const))(
  'the search can fail: %s',
  (_name, index) => {
    const broken = rebuilt(connectionMachine, BROKEN[index]!);
    const { counterexample } = CONNECTION_PROPERTIES[index]!;
    const isFound = Object.values(SETTINGS).some(
      (settings) => counterexample(connectionGraph(settings, broken, 'one kind')) !== undefined,
    );
    expect(isFound).toBe(true);
  },
);
