import type { ConnectionState } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import type { ListenStreamLoss } from './transports/subscriptions.ts';

interface ConnectionEventBase {
  /** The connection's name. */
  readonly connection: string;
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What a host can listen to. Each is emitted after it is so. */
export interface ConnectionEvents {
  /** The connection went from one state to another. */
  transition: ConnectionEventBase & {
    readonly from: ConnectionState;
    readonly to: ConnectionState;
    /** Why it is not ready. */
    readonly cause: Cause | undefined;
  };
  /** A generation is definitively gone. */
  lost: ConnectionEventBase & { readonly cause: Cause };
  /** A new generation of an owned connection has finished its handshake. */
  recreated: ConnectionEventBase & {
    /** The revision of MCP that it has negotiated; undefined where the client does not tell. */
    readonly protocolVersion: string | undefined;
    /** That of the generation before. Another one: the server behind has changed. */
    readonly previousProtocolVersion: string | undefined;
  };
  /**
   * A stream on which the server tells of changes has ended (`subscriptions/listen`, from 2026-07-28 on). That of an
   * owned connection is opened again, and one notice comes then for each thing that is listened to. `final`: it is not
   * opened again: its server refuses it, `windowMs` have passed, or the connection is its caller's.
   */
  'listen-stream-lost': ConnectionEventBase & ListenStreamLoss;
  /**
   * A person has to sign in at this URL before the connection can go on; then `finishAuth` is to be called. The
   * `authProvider` is asked to open it as well. Told once for each login and connection.
   */
  'authorization-required': ConnectionEventBase & { readonly url: URL };
  /** A caller-owned connection is lost; only its caller can replace it. */
  'ownership-failed': ConnectionEventBase & { readonly cause: Cause | undefined };
}
