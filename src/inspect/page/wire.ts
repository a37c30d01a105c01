/** What the page is sent, as JSON. Every word in it has gone through the allow-list, or is a `ConnectionStatus`. */
import type { Unavailability } from '../../../machines/operation.machine.ts';
import type { Cause, Execution, OperationKind, ReplayPolicy } from '../../../machines/vocabulary.ts';
import type { ConnectionStatus } from '../../status.ts';

/** The states that a machine went through since it last set out, each with the event that led to it. */
export type Trail = readonly { readonly state: string; readonly event: string }[];

export interface ConnectionView extends ConnectionStatus {
  /** The whole state: `recreating.backingOff`. */
  readonly path: string;
  /** Dials since it was last stable. */
  readonly attempts: number;
  readonly trail: Trail;
}

/** One operation that failed, or that arrived while its connection was not ready. */
export interface OperationView {
  readonly id: string;
  readonly connection: string;
  readonly kind: OperationKind | undefined;
  readonly policy: ReplayPolicy | undefined;
  readonly state: string;
  readonly sends: number;
  readonly since: number;
  /** In its final state since then. */
  readonly endedAt: number | undefined;
  readonly cause: Cause | undefined;
  readonly execution: Execution | undefined;
  readonly unavailability: Unavailability | undefined;
  readonly trail: Trail;
}

/** From the loss of a connection, or its first failed dial, until it is ready or nothing more is done. */
export interface RecoveryView {
  readonly id: number;
  readonly connection: string;
  readonly cause: Cause | undefined;
  /** Why the last dial failed. */
  readonly lastCause: Cause | undefined;
  /** Dials. Unknown of one that began before somebody looked. */
  readonly attempts: number | undefined;
  readonly lostAt: number;
  /** When an operation, or the host, wanted it back. */
  readonly wantedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** `recreated`: on `generation`. `given-back`: it belongs to its caller. Undefined while it lasts. */
  readonly outcome: 'recreated' | 'exhausted' | 'given-back' | 'closed' | undefined;
  readonly generation: number | undefined;
}

/** One line of the log. */
export interface StepView {
  /** Counts the steps of this host: 1, 2, 3 … */
  readonly n: number;
  readonly at: number;
  readonly connection: string;
  readonly machine: 'connection' | 'operation';
  readonly actor: string;
  readonly event: string;
  readonly from: string;
  readonly path: readonly string[];
  readonly to: string;
  readonly ignored: boolean;
  readonly cause: Cause | undefined;
  readonly generation: number | undefined;
  readonly kind: OperationKind | undefined;
  readonly sends: number | undefined;
}

/** What has changed; in a snapshot, everything that is known. */
export interface Changes {
  readonly connections: readonly ConnectionView[];
  readonly operations: readonly OperationView[];
  readonly recoveries: readonly RecoveryView[];
  /** The oldest first. */
  readonly steps: readonly StepView[];
  /** Names of closed connections that are not shown any more. */
  readonly gone: readonly string[];
}

export interface Snapshot extends Changes {
  readonly controls: readonly { readonly name: string; readonly label: string }[];
  /** Each cause in words. */
  readonly causes: Readonly<Record<Cause, string>>;
}
