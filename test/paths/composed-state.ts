/** What is known of a connection and its operations at one moment, by somebody who sees the server too. */
import type { SnapshotFrom } from 'xstate';
import type { ConnectionInput, connectionMachine } from '../../machines/connection.machine.ts';
import type { operationMachine } from '../../machines/operation.machine.ts';
import type { ReplayPolicy } from '../../machines/vocabulary.ts';

export interface Operation {
  readonly policy: ReplayPolicy;
  readonly phase: 'not begun' | 'begun' | 'ended';
  /** A request of it is under way. */
  readonly inFlight: boolean;
  /** Its last request was sent on the generation that is current. */
  readonly onCurrent: boolean;
  /** Since it was in trouble. */
  readonly trouble: SnapshotFrom<typeof operationMachine> | undefined;
  readonly waitsFor: 'nothing' | 'usable' | 'proof';
  /** How often it was sent, and how often the server ran it. */
  readonly sends: number;
  readonly runs: number;
  /** In the end its caller was told that the server did not run it. */
  readonly toldUnrun: boolean;
}

export interface Composed {
  readonly connection: SnapshotFrom<typeof connectionMachine>;
  readonly operations: readonly Operation[];
  /** Since the last dial, something has happened that asks for one: a loss, a failed dial, a host. */
  readonly dialIsDue: boolean;
  /** What the last step did. It does not tell configurations apart. */
  readonly did: { readonly dials: number; readonly dialsNotDue: number; readonly sends: number };
}

export interface ComposedInput extends ConnectionInput {
  /** One operation of each. */
  readonly policies: readonly ReplayPolicy[];
}

export const NOT_BEGUN = {
  phase: 'not begun',
  inFlight: false,
  onCurrent: false,
  trouble: undefined,
  waitsFor: 'nothing',
  sends: 0,
  runs: 0,
  toldUnrun: false,
} as const satisfies Partial<Operation>;
