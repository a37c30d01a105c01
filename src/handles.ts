/**
 * What a host holds: an owned and a caller-owned handle are different types, so that what the ownership forbids
 * does not compile. At run time both are a `Connection`, which refuses it too.
 */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ConnectionState } from '../machines/connection.machine.ts';
import type { Ownership } from '../machines/vocabulary.ts';
import { type Callback, CallbackRefused } from './authorization/callback.ts';
import type { ClientMethods } from './client-methods.ts';
import { Connection } from './connection.ts';
import { AuthorizationCallbackError, InvalidOptionsError, NotConnectedError } from './errors.ts';
import type { ConnectionEvents } from './events.ts';
import type { LentLine } from './lent-line.ts';
import type { ConnectionStatus } from './status.ts';
import { isConnected, type SessionShape } from './transports/client-shape.ts';

/** What every handle has. */
export interface ConnectionHandle extends ClientMethods, AsyncDisposable {
  readonly name: string;
  readonly ownership: Ownership;
  readonly state: ConnectionState;
  readonly status: ConnectionStatus;
  /** Which client is, or was last, current: 1, 2, 3 …; 0 before the first. */
  readonly generation: number;
  /** Returns a function that removes the listener. A listener that throws harms nobody. */
  on<T extends keyof ConnectionEvents>(type: T, listener: (event: ConnectionEvents[T]) => void): () => void;
  /**
   * Resolves when the connection is usable. An owned one that is lazy, lost or unavailable (after its cool-down) is
   * made, as an operation would have it made.
   * @throws {ConnectionUnavailableError} an owned one could not be made; `why` says the reason.
   * @throws {CallerOwnedConnectionLostError} a caller-owned one is lost: only `replace()` brings it back.
   * @throws {ConnectionClosedError} after `close()`.
   * @throws the signal's reason, when it is aborted first; nothing else changes then.
   */
  ready(options?: { readonly signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Owned: lets operations in flight settle (`drainTimeoutMs`), ends the session, closes. Caller-owned: gives back
   * what was lent, untouched. Resolves when that is done; may be called again.
   */
  close(): Promise<void>;
}

/** A connection that the supervisor makes and recreates. */
export interface OwnedConnection extends ConnectionHandle {
  readonly ownership: 'supervisor';
  /**
   * Makes a new generation now, whatever the budget; joins a dial that is under way. Resolves when it is ready.
   * @throws {ConnectionUnavailableError} when it could not be made.
   * @throws {ConnectionClosedError} after `close()`.
   */
  reconnect(): Promise<void>;
  /**
   * Finishes the login that this connection's `authProvider` has begun, for all connections that share it: what waits
   * for it goes on. Takes the URL that the authorization server has sent the person back to, or its parameters, both
   * of which are checked, or only the code.
   * @throws {AuthorizationCallbackError} when it belongs to no login in progress: another `state`, another `iss`, used
   * already. Nothing is sent then.
   * @throws the SDK's `OAuthError`, when the login was refused, or the code was.
   * @throws {TypeError} without an `authProvider`: then the host owns the sign-in.
   */
  finishAuth(callback: string | URL | URLSearchParams): Promise<void>;
}

/** A connection that belongs to its caller: used, watched, never opened, closed or replaced. */
export interface CallerOwnedConnection<Supplied> extends ConnectionHandle {
  readonly ownership: 'caller-client' | 'caller-session';
  /**
   * The caller's own act after a loss: another connected client, or the same one that its caller has connected
   * again. What was supplied before stays untouched, and is not watched any more.
   * @throws {NotConnectedError} when it is not connected; then nothing has changed.
   * @throws {InvalidOptionsError} when it is no client, or no session.
   * @throws {ConnectionClosedError} after `close()`.
   */
  replace(supplied: Supplied): Promise<void>;
}

/** Any MCP client that is connected: SDK v1 or v2, by shape. */
export type SuppliedClient =
  | Client
  | {
      request: (...args: never[]) => unknown;
      callTool: (...args: never[]) => unknown;
      ping: (...args: never[]) => unknown;
    };

/** Any low-level session: what has the SDK's `request()`. */
export type SuppliedSession = { request: (...args: never[]) => unknown };

/** The caller-owned handle at run time. */
export class LentConnection extends Connection {
  /** For hosts without types. */
  override async reconnect(): Promise<never> {
    throw new TypeError(
      `Connection "${this.name}" belongs to its caller, and is never reconnected here. ` +
        'Create and connect a new one and pass it to replace().',
    );
  }

  /** For hosts without types. */
  async finishAuth(): Promise<never> {
    throw new TypeError(`Connection "${this.name}" belongs to its caller, who owns its sign-in.`);
  }

  async replace(supplied: unknown): Promise<void> {
    checkSupplied(this.name, this.ownership, supplied);
    this.takeReplacement((line) => (line as LentLine).supply(supplied));
  }
}

/** Is it what it should be, and is it connected? */
export function checkSupplied(
  connection: string,
  ownership: Ownership,
  supplied: unknown,
): asserts supplied is SessionShape {
  const { request, callTool, ping } = (supplied ?? {}) as Partial<Record<string, unknown>>;
  const isClient = [request, callTool, ping].every((method) => typeof method === 'function');
  if (ownership === 'caller-client' && !isClient) {
    throw new InvalidOptionsError(connection, 'client', 'expected a connected MCP client');
  }
  if (typeof request !== 'function') {
    throw new InvalidOptionsError(connection, 'session', 'expected an object with request()');
  }
  if (!isConnected(supplied as SessionShape)) throw new NotConnectedError({ connection, ownership });
}

/** The owned handle at run time. */
export class SupervisedConnection extends Connection {
  async finishAuth(callback: Callback): Promise<void> {
    if (this.signIn === undefined) {
      throw new TypeError(`Connection "${this.name}" has no authProvider: the host owns its sign-in.`);
    }
    this.refuseIfClosed();
    try {
      await this.signIn.finish(callback);
    } catch (error) {
      throw error instanceof CallbackRefused
        ? new AuthorizationCallbackError(this.name, error.message)
        : error;
    }
  }

  /** For hosts without types. */
  async replace(): Promise<never> {
    throw new TypeError(
      `Connection "${this.name}" was made by the supervisor, and has nothing to replace. ` +
        'Use reconnect() for a new generation.',
    );
  }
}
