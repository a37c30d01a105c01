// XState skips an action that it does not find, and fires a delay that it does not find at once.

import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { runnableConnectionMachine } from '../../src/connection-actor.ts';
import { namesUsed, unresolvedNames, unusedNames } from '../support/machine-names.ts';

describe.each([
  ['connection', connectionMachine],
  ['connection, as src/ runs it', runnableConnectionMachine],
  ['operation', operationMachine],
])('the %s machine', (_name, machine) => {
  it('has every guard, action, actor and delay that its config names', () => {
    expect(unresolvedNames(machine)).toEqual([]);
  });

  it('names every one that it has', () => {
    expect(unusedNames(machine)).toEqual([]);
  });
});

it('finds the names of the config (the check itself)', () => {
  const found = namesUsed(connectionMachine);
  for (const name of [
    'guards: budgetIsSpent', // inside and([...])
    'guards: probeProvesLoss', // with params
    'actions: rememberLoss',
    'actors: open',
    'delays: window',
  ]) {
    expect(found).toContain(name);
  }
  const misspelt = setup({ delays: { backoff: 100 }, guards: { isUp: () => true } }).createMachine({
    initial: 'a',
    states: {
      a: {
        entry: 'announce' as never,
        after: { backof: { target: 'b' } } as never,
        on: { go: { guard: 'isUpp' as never, target: 'b' } },
      },
      b: { invoke: { src: 'dial' } as never },
    },
  });
  expect(unresolvedNames(misspelt)).toEqual([
    'actions: announce',
    'guards: isUpp',
    'delays: backof',
    'actors: dial',
  ]);
});
