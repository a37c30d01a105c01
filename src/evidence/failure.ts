import type { Evidence } from '../../machines/vocabulary.ts';
import type { ErrorShape } from './error-shape.ts';

/** How a child process ended, or what it last said. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The end of what it wrote to stderr, without what the host passed to it as a secret (`passedSecrets`). */
  readonly stderr: string;
}

/** Whether a request named a session; `unseen`: it was sent by an object that does not show its transport. */
export type CarriedSession = 'carried' | 'none' | 'unseen';

/**
 * Where the last POST of a call ended up. `endpoint`: there, or where 307 or 308 within its origin led, which keep
 * method and body. `within-origin`: elsewhere in its origin, by redirects that `fetch` followed unseen.
 */
export type Reached = 'endpoint' | 'within-origin' | 'elsewhere';

/** One failed request: the error, and what was known about the request apart from it. */
export interface Failure {
  readonly error: ErrorShape;
  /** Captured when it was sent: the live session may have changed by the time the error comes. */
  readonly session: CarriedSession;
  /** Streamable HTTP without a session: its server may have become another one, and nobody would notice. */
  readonly nothingToLose: boolean;
  /** Its client has negotiated 2026-07-28 or later. */
  readonly isModern: boolean;
  /** The caller's own signal is aborted. */
  readonly aborted: boolean;
  /** The cap on the whole call ended it. */
  readonly overdue: boolean;
  /** The transport of this request has closed. */
  readonly transportClosed: boolean;
  /** An earlier request of the same call reached the server, so no later one can prove that nothing ran. */
  readonly earlierLegMayHaveRun: boolean;
  /** Where the request ended up, as far as its redirects were seen; adopted: `endpoint`. */
  readonly reached: Reached;
  /** Its JSON-RPC id, where we own the transport. */
  readonly requestId: string | number | undefined;
  /** What the monitor saw on the wire, where we own it. */
  readonly observed: Evidence | undefined;
  /** Take HTTP 404 as proof that the request did not run. */
  readonly trust404: boolean;
}

/** For a request that is no call of the host's: nothing is known beyond its error. */
export const NO_CALL = {
  nothingToLose: false,
  isModern: false,
  aborted: false,
  overdue: false,
  earlierLegMayHaveRun: false,
  reached: 'endpoint',
  requestId: undefined,
  observed: undefined,
} as const satisfies Partial<Failure>;

/** One source of evidence: what it makes of a failure, or nothing if it does not know it. */
export type EvidenceRule = (failure: Failure) => Evidence | undefined;
