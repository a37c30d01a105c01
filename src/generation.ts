/** One client of a connection, with the calls that are in flight on it. */
import type { Cause, Evidence } from '../machines/vocabulary.ts';
import { type Call, capOf, sendOptions } from './call.ts';
import type { CarriedSession, ProcessEnd } from './evidence/failure.ts';
import { listenToLent } from './lent-hooks.ts';
import { type RequestSignal, requestSignal } from './signals.ts';
import {
  type Callable,
  type CallOptions,
  type ClientShape,
  isVersion2,
  mayTakeSeveralRequests,
  type SessionShape,
  type TransportShape,
  transportOf,
} from './transports/client-shape.ts';
import { type Exchange, headersCarrying, type Witness } from './transports/witness.ts';
import { withinLimit } from './within-limit.ts';

/** A send that failed, with what only its generation knows about it. */
export interface FailedSend {
  readonly call: Call;
  readonly generation: Generation;
  readonly error: unknown;
  readonly session: CarriedSession;
  /** What the witness saw, where we own the transport. */
  readonly witnessed: Evidence | undefined;
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
  /** The server answered that it does not know `ping`. */
  pingUnsupported: boolean;
  readonly processEnd: ProcessEnd | undefined;
  /** What its requests carry now. */
  readonly session: CarriedSession;
  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown>;
}

function carried(sessionId: string | undefined): CarriedSession {
  return sessionId === undefined ? 'none' : 'carried';
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Hands a call to the SDK; whatever it throws comes as a rejection. */
function invoke(call: Call, client: Callable<ClientShape>, options: CallOptions): Promise<unknown> {
  try {
    return call.invoke(client, options);
  } catch (error) {
    return Promise.reject(error);
  }
}

function borrowSignal(call: Call, leftMs: number, options: Mutable<CallOptions>): RequestSignal | undefined {
  const capMs = capOf(call, leftMs);
  if (options.signal === undefined && capMs === undefined) return undefined;
  const borrowed = requestSignal(options.signal, capMs);
  options.signal = borrowed.signal;
  return borrowed;
}

/** A generation that the supervisor made: its wire is witnessed, and it is ended here. */
export class OwnedGeneration implements Generation {
  readonly number: number;
  readonly client: Callable<ClientShape>;
  closed = false;
  pingUnsupported = false;
  readonly #transport: TransportShape | undefined;
  readonly #witness: Witness;
  readonly #isVersion2: boolean;
  #onIdle: (() => void) | undefined;

  constructor(number: number, client: ClientShape, transport: TransportShape | undefined, witness: Witness) {
    this.number = number;
    this.client = client as unknown as Callable<ClientShape>;
    this.#transport = transport;
    this.#witness = witness;
    this.#isVersion2 = isVersion2(client);
  }

  get inFlight(): number {
    return this.#witness.inFlight;
  }

  get session(): CarriedSession {
    return carried(this.#transport?.sessionId);
  }

  get processEnd(): ProcessEnd | undefined {
    return (this.#transport as { processEnd?: ProcessEnd } | undefined)?.processEnd;
  }

  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown> {
    const exchange = this.#witness.begin(call.options?.onresumptiontoken);
    const options: Mutable<CallOptions> = sendOptions(call, leftMs);
    options.onresumptiontoken = exchange.token;
    if (this.#isVersion2) options.headers = headersCarrying(exchange, options.headers);
    const borrowed = borrowSignal(call, leftMs, options);
    return invoke(call, this.client, options).then(
      (result) => {
        this.#settled(exchange, borrowed);
        return result;
      },
      (error: unknown) => {
        this.#settled(exchange, borrowed);
        const overdue = borrowed?.overdue() === true;
        const session = carried(exchange.sessionId);
        return onFailure({
          call,
          generation: this,
          error,
          session,
          witnessed: exchange.verdict,
          earlierLegMayHaveRun: exchange.earlierLegMayHaveRun,
          overdue,
        });
      },
    );
  }

  #settled(exchange: Exchange, borrowed: RequestSignal | undefined): void {
    this.#witness.end(exchange);
    borrowed?.release();
    if (this.#onIdle !== undefined && this.inFlight === 0) this.#onIdle();
  }

  /** Its session is gone: answer streams that were cut will not be resumed. */
  sessionIsGone(): void {
    this.#witness.settleStalled();
  }

  /** Nothing more can be answered on it. */
  answersAreLost(): void {
    this.#witness.settleAll();
  }

  /** Resolves when nothing is in flight, or when the limit has passed. */
  async drain(limitMs: number): Promise<void> {
    if (this.inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends the session if the server still has it, then closes; each step within the limit. Never rejects. */
  async end(terminate: boolean, limitMs: number): Promise<void> {
    const transport = this.#transport;
    if (terminate && transport?.sessionId !== undefined && transport.terminateSession !== undefined) {
      await withinLimit(() => transport.terminateSession?.(), limitMs);
    }
    await withinLimit(async () => {
      await (this.client as unknown as ClientShape).close();
      // A client that lost its transport does not close it, and a child may have left descendants.
      await transport?.close();
    }, limitMs);
  }
}

/** What a lent generation reports to its connection. */
export interface LentHooks {
  lost(generation: number, cause: Cause): void;
  hinted(generation: number, error: Error): void;
}

/** A generation that belongs to the caller: it is used and watched, and given back as it was. */
export class LentGeneration implements Generation {
  readonly number: number;
  readonly client: Callable<ClientShape>;
  inFlight = 0;
  closed = false;
  pingUnsupported = false;
  readonly processEnd = undefined;
  readonly #supplied: SessionShape;
  readonly #giveBack: () => void;

  constructor(number: number, supplied: SessionShape, client: ClientShape, hooks: LentHooks) {
    this.number = number;
    this.#supplied = supplied;
    this.client = client as unknown as Callable<ClientShape>;
    this.#giveBack = listenToLent(supplied, {
      closed: () => {
        this.closed = true;
        hooks.lost(number, 'connection-closed');
      },
      failed: (error) => hooks.hinted(number, error),
    });
  }

  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown> {
    this.inFlight++;
    const { session } = this;
    const options: Mutable<CallOptions> = sendOptions(call, leftMs);
    const borrowed = borrowSignal(call, leftMs, options);
    return invoke(call, this.client, options).then(
      (result) => {
        this.inFlight--;
        borrowed?.release();
        return result;
      },
      (error: unknown) => {
        this.inFlight--;
        borrowed?.release();
        const overdue = borrowed?.overdue() === true;
        return onFailure({
          call,
          generation: this,
          error,
          session,
          witnessed: undefined,
          // Nobody has counted the requests that the caller's client made of this call.
          earlierLegMayHaveRun: mayTakeSeveralRequests(this.#supplied),
          overdue,
        });
      },
    );
  }

  get session(): CarriedSession {
    if (!('transport' in this.#supplied)) return 'unseen';
    return carried(transportOf(this.#supplied)?.sessionId);
  }

  /** The caller's handlers are as they were; ones that the caller has set since then stay. */
  giveBack(): void {
    this.#giveBack();
  }
}
