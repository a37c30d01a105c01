/** One client of a connection, with the calls that are in flight on it. */
import type { Cause, Evidence } from '../machines/vocabulary.ts';
import { type Call, capOf, sendOptions } from './call.ts';
import type { CarriedSession, ProcessEnd, Reached } from './evidence/failure.ts';
import { type RequestSignal, requestSignal } from './signals.ts';
import type { Callable, CallOptions, ClientShape } from './transports/client-shape.ts';

/** A send that failed, with what only its generation knows about it. */
export interface FailedSend {
  readonly call: Call;
  readonly generation: Generation;
  readonly error: unknown;
  readonly session: CarriedSession;
  /** What the monitor saw, where we own the transport. */
  readonly observed: Evidence | undefined;
  /** Where the request ended up, and its JSON-RPC id, where we own the transport. */
  readonly reached: Reached;
  readonly requestId: string | number | undefined;
  /** An earlier request of the same call reached the server, or may have. */
  readonly earlierLegMayHaveRun: boolean;
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
  /** The server answered that it does not know `ping`. */
  pingUnsupported: boolean;
  readonly processEnd: ProcessEnd | undefined;
  /** What its requests carry now. */
  readonly session: CarriedSession;
  /** `leftMs`: what is left of the call's one deadline. */
  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown>;
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

export function prepareOptions(call: Call, leftMs: number): PreparedOptions {
  const options: PreparedOptions['options'] = sendOptions(call, leftMs);
  const capMs = capOf(call, leftMs);
  if (options.signal === undefined && capMs === undefined) return { options, borrowed: undefined };
  const borrowed = requestSignal(options.signal, capMs);
  options.signal = borrowed.signal;
  return { options, borrowed };
}
