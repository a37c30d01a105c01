import type { SnapshotFrom } from 'xstate';
import type { ConnectionInput } from '../../machines/connection.machine.ts';
import type { ReplayPolicy } from '../../machines/vocabulary.ts';
import { BUDGET } from '../machines/connection-driver.ts';
import { composedFixtures, type Extent } from './composed-environment.ts';
import { composedKey } from './composed-key.ts';
import { type ComposedLogic, composedLogic } from './composed-model.ts';
import { Parts, REAL } from './composed-parts.ts';
import { explore, type Graph } from './graph.ts';

export type ComposedGraph = Graph<SnapshotFrom<ComposedLogic>>;

export interface Composition extends Partial<ConnectionInput> {
  /** One operation of each. */
  readonly policies: readonly ReplayPolicy[];
  readonly extent: Extent;
}

const alone = (input: Partial<ConnectionInput> = {}) => ({ ...input, extent: 'everything' }) as const;
const two = (input: Partial<ConnectionInput> = {}) =>
  ({ ...input, extent: 'losses and suspicions' }) as const;
const three = (input: Partial<ConnectionInput> = {}) => ({ ...input, extent: 'losses' }) as const;

/** A connection with one, two and three operations. */
export const COMPOSITIONS: Readonly<Record<string, Composition>> = {
  'own: safe': { ...alone(), policies: ['safe'] },
  'own: if-unsent': { ...alone(), policies: ['if-unsent'] },
  'own: never': { ...alone(), policies: ['never'] },
  'own, lazy: if-unsent': { ...alone({ lazy: true }), policies: ['if-unsent'] },
  'caller-client: safe': { ...alone({ ownership: 'caller-client' }), policies: ['safe'] },
  'caller-client: never': { ...alone({ ownership: 'caller-client' }), policies: ['never'] },
  'caller-session: if-unsent': { ...alone({ ownership: 'caller-session' }), policies: ['if-unsent'] },
  'own: safe, if-unsent': { ...two(), policies: ['safe', 'if-unsent'] },
  'own: if-unsent, never': { ...two(), policies: ['if-unsent', 'never'] },
  'own, eager: two if-unsent': { ...two({ recreate: 'eager' }), policies: ['if-unsent', 'if-unsent'] },
  'caller-client: safe, if-unsent': {
    ...two({ ownership: 'caller-client' }),
    policies: ['safe', 'if-unsent'],
  },
  'caller-session: two if-unsent': {
    ...two({ ownership: 'caller-session' }),
    policies: ['if-unsent', 'if-unsent'],
  },
  'own: three safe': { ...three(), policies: ['safe', 'safe', 'safe'] },
  'own: safe, if-unsent, never': { ...three(), policies: ['safe', 'if-unsent', 'never'] },
  'own: three if-unsent': { ...three(), policies: ['if-unsent', 'if-unsent', 'if-unsent'] },
  'caller-client: safe, if-unsent, never': {
    ...three({ ownership: 'caller-client' }),
    policies: ['safe', 'if-unsent', 'never'],
  },
};

/** Every configuration of a composition, with every event that is possible in it. */
export function composedGraph({ extent, ...input }: Composition, real = REAL): ComposedGraph {
  const parts = new Parts(real);
  return explore({
    logic: composedLogic(parts),
    input: { ...BUDGET, maxAttempts: 2, ...input },
    fixtures: composedFixtures(parts, input.policies.length, extent),
    key: composedKey(parts),
    limit: 100_000,
  });
}
