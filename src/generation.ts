/** One client of a connection, with the calls that are in flight on it. */
import type { SilenceFacts } from '../machines/connection.machine.ts';
import type { Cause, Evidence } from '../machines/vocabulary.ts';
import { type Call, capOf, sendOptions } from './call.ts';
import type { CarriedSession, ProcessEnd, Reached } from './evidence/failure.ts';
import type { PingHabits } from './probe.ts';
import { type RequestSignal, requestSignal } from './signals.ts';
import type { Callable, CallOptions, ClientShape } from './transports/client-shape.ts';

/** A send that failed, with what only its generation knows about it. */
export interface FailedSend {
  readonly call: Call;
  readonly generation: Generation;
  readonly error: unknown;
  readonly session: CarriedSession;
  /** Streamable HTTP without a session: its server may have gone and come back as if nothing was. */
  readonly nothingToLose: boolean;
  /** What the wire monitor saw, where we own the transport. */
  readonly observed: Evidence | undefined;
  readonly requestId: string | number | undefined;
  readonly reached: Reached;
  /** An earlier request of the same call reached the server, or may have. */
  readonly earlierLegMayHaveRun: boolean;
  /** The server has asked the host for input: to begin anew would ask again. */
  readonly askedForInput: boolean;
  /** The error may be one of the host's own, with which it answered what the server asked. */
  readonly mayBeTheHosts: boolean;
  /** The cap on the whole call ended it. */
  readonly overdue: boolean;
}

export type OnFailure = (failed: FailedSend) => Promise<unknown>;

export interface Generation {
  readonly number: number;
  readonly client: Callable<ClientShape>;
  readonly inFlight: number;
  /** Its transport has closed. */
  readonly closed: boolean;
  /** Why it is definitively gone, once it is. */
  readonly gone: Cause | undefined;
  readonly overHttp: boolean;
  readonly pings: PingHabits;
  /** When the last operation was sent that was answered, from `Date.now()`; 0 before the first. */
  readonly answeredSentAt: number;
  /** Another number after each message that came from the server. */
  readonly signsOfLife: number;
  /** How many sleeps of the host it has been probed after. */
  sleepsSeen: number;
  /** Called once, when an operation of the host's has been answered; a ping is none. */
  onAnswer: (() => void) | undefined;
  /** Of a gateway's errors in a row: true where they may be held against the session. */
  readonly earnsNewSession: boolean;
  readonly processEnd: ProcessEnd | undefined;
  /** What its requests carry now. */
  readonly session: CarriedSession;
  /** Its client has negotiated 2026-07-28 or later: a call may be several requests. */
  readonly isModern: boolean;
  /** They carry no session, over Streamable HTTP. */
  readonly nothingToLose: boolean;
  /** When its server was first found to be gone, of several times in a row, from `Date.now()`. */
  unreachableSince: number | undefined;
  /** `leftMs`: what is left of the call's one deadline. */
  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown>;
  /** An operation was answered, if by an error. */
  answered(call: Call): void;
  /** A row of probes begins: calls that are in flight now put off that silence is a loss. */
  beginDoubt(): void;
  /** The next message from the server is reported, once. */
  reportNextMessage(): void;
  /** What its silence has to be judged by. */
  silence(): SilenceFacts;
  /** Several in a row, without any message in between. */
  noteGatewayError(): boolean;
}

export function carried(sessionId: string | undefined): CarriedSession {
  return sessionId === undefined ? 'none' : 'carried';
}

/** Hands a call to the SDK; whatever it throws comes as a rejection. */
export function ask(
  call: Call,
  client: Callable<ClientShape>,
  options: CallOptions | undefined,
): Promise<unknown> {
  try {
    return call.ask(client, call, options);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The options of one send, and the signal in them that has to be released when it has settled. */
export interface PreparedOptions {
  readonly options: { -readonly [K in keyof CallOptions]: CallOptions[K] };
  readonly borrowed: RequestSignal | undefined;
}

export function prepareOptions(call: Call, leftMs: number, mayTakeSeveralRequests: boolean): PreparedOptions {
  const options: PreparedOptions['options'] = sendOptions(call, leftMs);
  const capMs = capOf(call, mayTakeSeveralRequests);
  if (options.signal === undefined && capMs === undefined && !mayTakeSeveralRequests)
    return { options, borrowed: undefined };
  const borrowed = requestSignal(options.signal, capMs);
  options.signal = borrowed.signal;
  return { options, borrowed };
}
