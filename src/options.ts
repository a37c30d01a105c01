/** Everything that a host can set, and its defaults. */
import type { Evidence, OperationKind } from '../machines/vocabulary.ts';
import type { CarriedSession } from './evidence/failure.ts';
import type { ReplayOptions } from './operations.ts';
import type { ClientShape } from './transports/client-shape.ts';
import type { OwnedTransport, TransportContext } from './transports/recipe.ts';

/** How an owned connection is recovered. Durations in milliseconds. */
export interface RecoveryOptions {
  /** `on-demand` (default): when an operation wants it. `eager`: on every loss, and again after each cool-down. */
  readonly recreate?: 'on-demand' | 'eager' | undefined;
  /**
   * Attempts until the connection has been stable for `stableMs`, or has answered an operation. One attempt dials
   * twice where an old session was in the way. Default: as many as can be made in `windowMs`, 100 at most.
   */
  readonly maxAttempts?: number | undefined;
  /** The longest that one recovery may go on; before the first `ready`, what follows the first dial. Default 120 000. */
  readonly windowMs?: number | undefined;
  /**
   * Before the first `ready`: when three dials in a row have found no server (refused, no such host, a process that
   * exits in its handshake) and this time has passed, those who wait are told so, and the dials go on. A dial that
   * still runs is no failure. Default 2 000.
   */
  readonly firstReadyMs?: number | undefined;
  /** How long a connection must stay ready before its attempts are given back. Default 30 000. */
  readonly stableMs?: number | undefined;
  /** How long no demand is served after the budget is spent, a tenth of it at random. Default 30 000. */
  readonly coolDownMs?: number | undefined;
  /**
   * Upper bound of the delays before the first and the second dial. It grows by an eighth for each further one, and
   * doubles where a dial starts a process; half of it is random. There is none before the first dial of a process,
   * nor where the server said that it does not know the session. Default 200.
   */
  readonly initialBackoffMs?: number | undefined;
  /**
   * Upper bound of any delay, unless the server asked for more with `Retry-After`. Default 3 000, or 10 000 where a
   * dial starts a process.
   */
  readonly maxBackoffMs?: number | undefined;
  /** Operations that arrive while the connection is not ready wait for it. Default true. */
  readonly waitForReady?: boolean | undefined;
  /** How many of them may wait at a time. Default 1 000. */
  readonly maxWaiting?: number | undefined;
}

/** Durations in milliseconds. */
export interface TimeoutOptions {
  /** One whole dial: transport, handshake, `setup`. Default 30 000. */
  readonly connectTimeoutMs?: number | undefined;
  /** One operation that brings no `timeout` of its own: waiting, every send and the replay. Default 60 000. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long operations in flight may go on when their connection is closed or replaced. Default 5 000. */
  readonly drainTimeoutMs?: number | undefined;
  /** How long the DELETE of a session, and then the close of a client, is waited for. Default 5 000. */
  readonly closeTimeoutMs?: number | undefined;
}

export interface LivenessOptions {
  /** How long a probe's answer is waited for, in milliseconds. Default 5 000. */
  readonly probeTimeoutMs?: number | undefined;
  /** Send a heartbeat this often while ready, in milliseconds. Default: none are sent. */
  readonly heartbeatMs?: number | undefined;
  /**
   * Silence is a loss of an owned connection only after this many unanswered probes in a row, at growing distance
   * (the first distance is `probeTimeoutMs`), and without a message of any kind for `silenceMs`. Default 3. A call
   * that was in flight before the first of them puts the loss off until it has settled.
   */
  readonly missedProbes?: number | undefined;
  /** The former name of `missedProbes`. */
  readonly missedHeartbeats?: number | undefined;
  /** See `missedProbes`; in milliseconds. Default 30 000. */
  readonly silenceMs?: number | undefined;
  /**
   * In place of `silenceMs` while the server may still be working on an operation that the host gave up (time-out,
   * abort); in milliseconds. Default 120 000.
   */
  readonly busySilenceMs?: number | undefined;
}

/** What a host's own rule is told about a failure. */
export interface FailureFacts {
  readonly method: string;
  readonly kind: OperationKind;
  /** Whether the request named a session; `unseen`: its object does not show its transport. */
  readonly session: CarriedSession;
}

export interface EvidenceOptions {
  /**
   * Take HTTP 404, and a 400 in which an SDK's server says that it does not know the session, as proof that the
   * request did not run. Default true; switch it off behind a proxy that retries requests on another backend.
   */
  readonly trust404?: boolean | undefined;
  /** A rule of the host's own, asked first. Return nothing for a failure that it does not know. */
  readonly classify?: ((error: unknown, facts: FailureFacts) => Evidence | undefined) | undefined;
}

interface OwnCommon {
  readonly recovery?: RecoveryOptions | undefined;
  readonly replay?: ReplayOptions | undefined;
  readonly liveness?: LivenessOptions | undefined;
  readonly timeouts?: TimeoutOptions | undefined;
  readonly evidence?: EvidenceOptions | undefined;
  /** Open nothing until the first operation. Default false. */
  readonly lazy?: boolean | undefined;
}

/** What `connect` is given. */
export interface ConnectContext extends TransportContext {
  /** Aborted when the result is no longer wanted; what is returned after that is closed. */
  readonly signal: AbortSignal;
  /** The generation that is being made: 1, 2, 3 … */
  readonly generation: number;
}

/** Makes a client for one generation and connects it. Must return a new client each time. */
export type Connect = (context: ConnectContext) => Promise<ClientShape> | ClientShape;

export type OwnOptions =
  | (OwnCommon & { readonly transport: OwnedTransport; readonly connect?: undefined })
  | (OwnCommon & { readonly connect: Connect; readonly transport?: undefined });

export interface AdoptOptions {
  readonly recovery?: Pick<RecoveryOptions, 'waitForReady' | 'maxWaiting'> | undefined;
  readonly liveness?: LivenessOptions | undefined;
  readonly timeouts?: Pick<TimeoutOptions, 'requestTimeoutMs'> | undefined;
  readonly evidence?: EvidenceOptions | undefined;
}

/** What a connection runs with: every default filled in. */
export interface Settings {
  readonly recovery: Readonly<Required<{ [K in keyof RecoveryOptions]: NonNullable<RecoveryOptions[K]> }>>;
  readonly timeouts: Readonly<Required<{ [K in keyof TimeoutOptions]: NonNullable<TimeoutOptions[K]> }>>;
  readonly liveness: {
    readonly probeTimeoutMs: number;
    readonly heartbeatMs: number | undefined;
    readonly missedProbes: number;
    readonly silenceMs: number;
    readonly busySilenceMs: number;
  };
  readonly evidence: { readonly trust404: boolean; readonly classify: EvidenceOptions['classify'] };
  readonly replay: ReplayOptions;
  readonly lazy: boolean;
  /** Of an owned connection that is described. */
  readonly transport?: (Pick<OwnedTransport, 'kind'> & { readonly authProvider?: unknown }) | undefined;
}
