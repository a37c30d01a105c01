import type { Cause } from '../machines/vocabulary.ts';
import { type Call, isPlain } from './call.ts';
import type { CarriedSession } from './evidence/failure.ts';
import { ask, carried, type Generation, type OnFailure, prepareOptions } from './generation.ts';
import { listenToLent } from './lent-hooks.ts';
import type { RequestSignal } from './signals.ts';
import {
  type Callable,
  type CallOptions,
  type ClientShape,
  isConnected,
  mayTakeSeveralRequests,
  type SessionShape,
  transportOf,
} from './transports/client-shape.ts';

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
  gone: Cause | undefined;
  pingUnsupported = false;
  readonly processEnd = undefined;
  readonly #supplied: SessionShape;
  readonly #showsTransport: boolean;
  readonly #giveBack: () => void;

  constructor(number: number, supplied: SessionShape, client: ClientShape, hooks: LentHooks) {
    this.number = number;
    this.#supplied = supplied;
    this.#showsTransport = 'transport' in supplied;
    this.client = client as unknown as Callable<ClientShape>;
    this.#giveBack = listenToLent(supplied, {
      closed: () => {
        this.gone = 'connection-closed';
        hooks.lost(number, 'connection-closed');
      },
      failed: (error) => hooks.hinted(number, error),
    });
  }

  /** Made once, so that a plain call does not pay for it. */
  readonly #onResult = (result: unknown) => {
    this.inFlight--;
    return result;
  };

  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown> {
    if (isPlain(call) && leftMs >= call.timeoutMs) return this.#send(call, undefined, undefined, onFailure);
    const { options, borrowed } = prepareOptions(call, leftMs);
    return this.#send(call, options, borrowed, onFailure);
  }

  #send(
    call: Call,
    options: CallOptions | undefined,
    borrowed: RequestSignal | undefined,
    onFailure: OnFailure,
  ): Promise<unknown> {
    this.inFlight++;
    const { session } = this;
    return ask(call, this.client, options).then(
      borrowed === undefined
        ? this.#onResult
        : (result) => {
            borrowed.release();
            return this.#onResult(result);
          },
      (error: unknown) => {
        this.inFlight--;
        borrowed?.release();
        return onFailure({
          call,
          generation: this,
          error,
          session,
          observed: undefined,
          reached: 'endpoint',
          requestId: undefined,
          // Nobody has counted the requests that the caller's client made of this call.
          earlierLegMayHaveRun: mayTakeSeveralRequests(this.#supplied),
          overdue: borrowed?.overdue() === true,
        });
      },
    );
  }

  /** Also for a call that was in flight when the hooks were given back. */
  get closed(): boolean {
    return this.gone !== undefined || !isConnected(this.#supplied);
  }

  get session(): CarriedSession {
    if (!this.#showsTransport) return 'unseen';
    return carried(transportOf(this.#supplied)?.sessionId);
  }

  /** The caller's handlers are as they were; ones that the caller has set since then stay. */
  giveBack(): void {
    this.#giveBack();
  }
}
