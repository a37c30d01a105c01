/**
 * The words that both machines and all of `src/` share, and the one rule about sending an operation.
 * Plain data: nothing here knows the SDK, a clock or a socket.
 */

/** Who made the connection, and so who alone may open, close or replace it. */
export type Ownership = 'supervisor' | 'caller-client' | 'caller-session';

/** What an MCP request is for. */
export type OperationKind =
  | 'discovery'
  | 'liveness'
  | 'tool'
  | 'prompt'
  | 'resource'
  | 'completion'
  | 'logging'
  | 'subscription'
  | 'task'
  /** A method that is not part of MCP as known here. */
  | 'other';

/**
 * When an operation may be sent a second time. `safe`: repeating it is harmless. `if-unsent`: only when it is
 * proven that the server did not run it. `never`: not even then.
 */
export type ReplayPolicy = 'safe' | 'if-unsent' | 'never';

/** What a failure says about the operation: proven not run, unknown, or answered by the server. */
export type Execution = (typeof EXECUTIONS)[number];

const EXECUTIONS = ['none', 'unknown', 'answered'] as const;

/** Why an operation failed, or why a connection is in doubt. */
export const CAUSES = [
  /** HTTP 404 (or 410) to a request that carried a session id: the server has forgotten the session. */
  'session-unknown',
  /** HTTP 400 to a request that carried a session id: many servers say so for a forgotten session. */
  'session-rejected',
  /** An in-band error -32001: some servers say so for a forgotten session, others mean a timeout of theirs. */
  'session-error',
  /** No connection could be made to the server's address; nothing was sent. */
  'unreachable',
  /** The client has no transport any more; nothing was sent. */
  'not-connected',
  /** The message could not be written to the server's stdin. */
  'unwritten',
  /** The transport closed (a child died, a socket closed) with the request pending. */
  'connection-closed',
  /** The event stream that carries every answer of a legacy SSE session ended. */
  'stream-ended',
  /** The request was sent, and the exchange was cut before an answer began. */
  'request-cut',
  /** The request was accepted, and its answer can no longer come. */
  'answer-lost',
  /** No answer in the time allowed. */
  'timeout',
  /** A liveness check that is sent at an interval. */
  'heartbeat',
  /** The host's own process slept: its timers fired late, and what it was connected to may be gone. */
  'host-slept',
  /** The stream on which the server pushes messages is gone, and is not coming back by itself. */
  'deaf',
  /** The caller aborted. */
  'aborted',
  /** The server, or a gateway before it, wants credentials or refuses them. */
  'unauthorized',
  /** A person has to sign in; the login has begun, and has not been finished. */
  'authorization-required',
  /** The authorization server could not answer now; what the host has of it may still be good. */
  'authorization-unavailable',
  /** An HTTP status that refuses the request before running it. */
  'http-refused',
  /** An HTTP status that leaves open whether the request ran. */
  'http-error',
  /** A gateway's 5xx (500, 502, 504, 524 …): it may have run, and it says nothing about the session. */
  'gateway-error',
  /** The server speaks another revision of the protocol than the one that was negotiated with it. */
  'version-changed',
  /** The server and this client have no protocol version in common, or it refuses what every handshake says. */
  'incompatible',
  /** A redirect that is not followed: the server is at another address. */
  'redirected',
  /** The answer was not an MCP message. */
  'malformed-answer',
  /** The server answered with a JSON-RPC error. */
  'rpc-error',
  /** The SDK refused locally: the server or the protocol revision does not have this request. */
  'unsupported',
  /** The host's own listeners or hooks, or an error of a kind that is not known here. */
  'unrecognised',
  /** The caller supplied another connection in this one's place. */
  'replaced',
  /** The host asked for a new connection. */
  'requested',
  /** What the generation before holds (a process, a session) has not ended, and no other is made beside it. */
  'not-ended',
  /** The connection was closed by the host. */
  'closed',
] as const;

export type Cause = (typeof CAUSES)[number];

const CONNECTION_EVIDENCE = ['usable', 'suspect', 'lost'] as const;

/**
 * What a failure proves.
 *
 * `connection`: `usable` (the failure says nothing against it), `suspect` (worth one probe), `lost` (definitive).
 */
export interface Evidence {
  readonly connection: (typeof CONNECTION_EVIDENCE)[number];
  readonly execution: Execution;
  readonly cause: Cause;
}

function isOneOf(words: readonly unknown[], value: unknown): boolean {
  return words.includes(value);
}

/** For evidence that a host's own rule returned. */
export function isEvidence(value: unknown): value is Evidence {
  const { connection, execution, cause } = Object(value) as Partial<Evidence>;
  return isOneOf(CONNECTION_EVIDENCE, connection) && isOneOf(EXECUTIONS, execution) && isOneOf(CAUSES, cause);
}

/** An operation as the machines see it: nothing of its parameters. */
export interface OperationFacts {
  readonly kind: OperationKind;
  readonly policy: ReplayPolicy;
}

/** An operation that wants a connection. `unsent`: no send of it has begun. */
export interface DemandedOperation extends OperationFacts {
  readonly execution: 'unsent' | Execution;
}

/** The rule of replay, stated once: never sent, proven unrun, or declared harmless to repeat. */
export function mayBeSent({ policy, execution }: DemandedOperation): boolean {
  switch (execution) {
    case 'unsent':
      return true;
    case 'none':
      return policy !== 'never';
    case 'unknown':
      return policy === 'safe';
    case 'answered':
      return false;
  }
}

const CAUSES_THAT_STRIKE_BEFORE_PROOF: readonly Cause[] = [
  'not-connected',
  'connection-closed',
  'session-unknown',
  'session-rejected',
  'session-error',
  'version-changed',
  'unreachable',
  'request-cut',
  'answer-lost',
  'http-refused',
];

/**
 * A stricken operation lost its answer, or was turned away, by a connection that may be gone, or by a gateway before
 * a connection of ours.
 */
export function isStricken({ connection, cause }: Evidence, ownership: Ownership): boolean {
  switch (connection) {
    case 'lost':
      return true;
    case 'suspect':
      return CAUSES_THAT_STRIKE_BEFORE_PROOF.includes(cause);
    case 'usable':
      return cause === 'gateway-error' && ownership === 'supervisor';
  }
}
