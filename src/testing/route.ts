/** What a recovery route is: plain data, generated from the machine and the hand-written table (`npm run routes`). */
import type { ConnectionState } from '../../machines/connection.machine.ts';
import type { Ownership } from '../../machines/vocabulary.ts';
import type { FaultTransport } from './fault-reactions.ts';

/** What can happen on a route. */
export type RouteEvent =
  /** The connection is made, or given to the supervisor. */
  | 'begin'
  /** A dial ends. */
  | 'opened'
  | 'open failed'
  | 'open failed for good'
  /** A call arrives that waits for the connection. */
  | 'demand'
  | 'reconnect'
  /** The connection is lost, and nobody wants it back. */
  | 'lost'
  /** The connection is lost, and the call that noticed it is proven not to have run. */
  | 'lost, and a call did not run'
  /** The connection is lost, and the call that was in flight ran, and may be repeated. */
  | 'lost, and a safe call may have run'
  /** A call is not answered in the time that its caller allows. */
  | 'suspected, timeout'
  | 'probe answered'
  | 'probe lost'
  /** Silence is not yet a loss: the connection stays ready, and suspect. */
  | 'probe unanswered'
  /** The silence has lasted for so long that it is a loss. */
  | 'probe unanswered, and silent for long'
  /** A message comes from a server that is suspect. */
  | 'heard'
  /** The caller supplies another connection. */
  | 'replaced'
  | 'close'
  | 'after backoff'
  | 'after window'
  | 'after stable'
  | 'after coolDown'
  | 'after probeDistance';

/** What a call, or a `reconnect()`, comes to. */
export type Outcome =
  | 'an answer'
  /** The SDK's own timeout, untouched. */
  | 'the timeout of the SDK'
  | 'CallerOwnedConnectionLostError'
  | 'ConnectionUnavailableError'
  | 'ConnectionClosedError';

/** What the server counts more than before. */
export type ServerSees = Readonly<
  Partial<
    Record<
      'processes' | 'initializes' | 'handshakes' | 'pings' | 'toolCalls' | 'executions' | 'deletes',
      number
    >
  >
>;

export interface RouteStep {
  readonly event: RouteEvent;
  /** The state of the machine after it, for example `recreating.backingOff`. */
  readonly to: string;
  /** The states that the handle says it entered, in order. */
  readonly enters: readonly ConnectionState[];
  readonly server: ServerSees;
  /** What is settled by it, by the number of the call or `reconnect()`: they are counted from 1. */
  readonly settles: Readonly<Record<number, Outcome>>;
}

export interface RouteData {
  readonly ownership: Ownership;
  readonly transport: FaultTransport;
  readonly recreate: 'on-demand' | 'eager';
  readonly lazy: boolean;
  /** How many of the steps only lead to the beginning of the route. */
  readonly given: number;
  readonly steps: readonly RouteStep[];
  /** What the server has counted of sessions that were ended, when the handle has been closed after the route. */
  readonly end: ServerSees;
}
