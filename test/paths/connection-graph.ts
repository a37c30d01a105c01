import type { SnapshotFrom } from 'xstate';
import { type ConnectionInput, connectionMachine } from '../../machines/connection.machine.ts';
import { BUDGET } from '../machines/connection-driver.ts';
import { CONNECTION_FIXTURES, DEMANDS_OF_EVERY_KIND } from './connection-fixtures.ts';
import { connectionKey } from './connection-key.ts';
import { explore, type Graph } from './graph.ts';

/** Every configuration of the connection machine, with every event, and demands of every kind of operation. */
export function connectionGraph(
  input: Partial<ConnectionInput>,
  machine = connectionMachine,
  kinds: 'every kind' | 'one kind' = 'every kind',
): Graph<SnapshotFrom<typeof connectionMachine>> {
  return explore({
    logic: machine,
    input: { ...BUDGET, ...input },
    fixtures: { ...CONNECTION_FIXTURES, ...(kinds === 'every kind' ? DEMANDS_OF_EVERY_KIND : {}) },
    key: connectionKey,
    limit: 200_000,
  });
}
