import type { ConnectionState } from '../machines/connection.machine.ts';
import type { Cause, Ownership } from '../machines/vocabulary.ts';

/** What is known of a connection now. Nothing in it is secret. */
export interface ConnectionStatus {
  readonly connection: string;
  readonly state: ConnectionState;
  readonly ownership: Ownership;
  /** 0 before the first. */
  readonly generation: number;
  /**
   * The revision of MCP that this generation has negotiated, such as `2025-11-25`. Undefined before that, and where
   * the client does not tell: SDK v1 does so over Streamable HTTP only.
   */
  readonly protocolVersion: string | undefined;
  /** When it entered this state, in milliseconds since the epoch. */
  readonly since: number;
  /**
   * Since when it is in doubt, in milliseconds since the epoch: a probe of it is under way for a failure, or was not
   * answered. Calls are sent all the same. Undefined while nothing is held against it.
   */
  readonly suspectSince: number | undefined;
  /** Why it is not ready; undefined while it is, or while nothing has gone wrong. */
  readonly reason: Cause | undefined;
  /** What the host can do about it; undefined where nothing is needed. */
  readonly action: string | undefined;
  /** A person has to sign in before it can go on. */
  readonly authorization: 'required' | undefined;
  /** Operations that were sent and have not settled, of all generations. */
  readonly inFlight: number;
  /** Operations that wait for the connection. */
  readonly waiting: number;
  /** The last failure that was held against the connection. */
  readonly lastError: { readonly cause: Cause; readonly generation: number; readonly at: number } | undefined;
}

const ACTIONS: Readonly<Record<ConnectionState, string | undefined>> = {
  idle: undefined,
  connecting: undefined,
  ready: undefined,
  lost: 'Nothing: the next operation that may be sent recreates it.',
  recreating: undefined,
  'failed-ownership': 'Create and connect a new client or session, and pass it to replace().',
  exhausted: 'Call again after the cool-down, or call reconnect() to try at once.',
  closing: undefined,
  closed: undefined,
};

const ACTION_BY_CAUSE: Readonly<Partial<Record<Cause, string>>> = {
  unauthorized: 'Provide valid credentials, then call reconnect().',
};

const SIGN_IN = 'Let a person sign in, and pass what comes back to finishAuth().';

export function actionFor(
  state: ConnectionState,
  cause: Cause | undefined,
  authorization?: ConnectionStatus['authorization'],
): string | undefined {
  if (authorization === 'required') return SIGN_IN;
  if (state === 'exhausted' && cause !== undefined) return ACTION_BY_CAUSE[cause] ?? ACTIONS[state];
  return ACTIONS[state];
}
