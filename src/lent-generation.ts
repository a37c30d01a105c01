import type { SilenceFacts } from '../machines/connection.machine.ts';
import type { Cause, OperationKind } from '../machines/vocabulary.ts';
import { untilAborted } from './between-requests.ts';
import { type Call, isPlain } from './call.ts';
import { shapeOf } from './evidence/error-shape.ts';
import type { CarriedSession } from './evidence/failure.ts';
import { isTimeout } from './evidence/rpc.ts';
import { ask, carried, type Generation, type OnFailure, prepareOptions } from './generation.ts';
import { listenToLent } from './lent-hooks.ts';
import { newPingHabits } from './probe.ts';
import type { RequestSignal } from './signals.ts';
import {
  type Callable,
  type CallOptions,
  type ClientShape,
  hasNoSession,
  isConnected,
  isOverHttp,
  type ListeningClient,
  requestsOfACall,
  type SessionShape,
  transportOf,
} from './transports/client-shape.ts';
import { countedParams } from './transports/counted-params.ts';
import { type ListenStreamLoss, listenedTo } from './transports/subscriptions.ts';

/** In whose answer a server of revision 2026-07-28 may ask for input, or what is not known here. */
const MAY_TAKE_SEVERAL_REQUESTS: readonly OperationKind[] = ['tool', 'prompt', 'resource', 'other'];

/** What a lent generation reports to its connection. */
export interface LentHooks {
  lost(generation: number, cause: Cause): void;
  hinted(generation: number, error: Error): void;
  heard(generation: number): void;
  listenStreamLost(generation: number, loss: ListenStreamLoss): void;
}

/** A generation that belongs to the caller: it is used and watched, and given back as it was. */
export class LentGeneration implements Generation {
  readonly number: number;
  readonly client: Callable<ClientShape>;
  inFlight = 0;
  gone: Cause | undefined;
  signsOfLife = 0;
  sleepsSeen = 0;
  unreachableSince: number | undefined;
  /** It owes nothing: no dial of ours has failed. */
  onAnswer: (() => void) | undefined;
  readonly overHttp: boolean;
  readonly pings = newPingHabits();
  /** Not kept, and a gateway's errors neither: silence is never a loss of what belongs to its caller. */
  readonly answeredSentAt = 0;
  readonly earnsNewSession = false;
  readonly processEnd = undefined;
  readonly #supplied: SessionShape;
  readonly #showsTransport: boolean;
  readonly #giveBack: () => void;
  readonly #hooks: LentHooks;
  #reportsNext = false;
  #isGivenBack = false;

  constructor(number: number, supplied: SessionShape, client: ClientShape, hooks: LentHooks) {
    this.number = number;
    this.#supplied = supplied;
    this.#hooks = hooks;
    this.#showsTransport = 'transport' in supplied;
    const transport = transportOf(supplied);
    this.overHttp = transport !== undefined && isOverHttp(transport);
    this.client = client as unknown as Callable<ClientShape>;
    this.#giveBack = listenToLent(supplied, {
      closed: () => {
        this.gone = 'connection-closed';
        hooks.lost(number, 'connection-closed');
      },
      failed: (error) => hooks.hinted(number, error),
    });
    this.#watchListening();
  }

  /** Of a stream that the caller has opened by `listen()` nothing is seen. */
  #watchListening(): void {
    const { autoOpenedSubscription: opened } = this.#supplied as ListeningClient;
    opened?.closed.then(
      (by) => {
        if (by === 'local' || this.#isGivenBack || this.closed) return;
        const loss = { listened: listenedTo(opened.honoredFilter), final: true };
        this.#hooks.listenStreamLost(this.number, loss);
      },
      () => {},
    );
  }

  /** Made once, so that a plain call does not pay for it. */
  readonly #onResult = (result: unknown) => {
    this.inFlight--;
    this.#heard();
    return result;
  };

  /** Only answers are seen: the caller's transport stays untouched. */
  #heard(): void {
    this.signsOfLife++;
    if (!this.#reportsNext) return;
    this.#reportsNext = false;
    this.#hooks.heard(this.number);
  }

  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown> {
    if (isPlain(call) && leftMs >= call.timeoutMs) return this.#send(call, undefined, undefined, onFailure);
    const { options, borrowed } = prepareOptions(call, leftMs, this.isModern);
    return this.#send(call, options, borrowed, onFailure);
  }

  #send(
    call: Call,
    options: CallOptions | undefined,
    borrowed: RequestSignal | undefined,
    onFailure: OnFailure,
  ): Promise<unknown> {
    this.inFlight++;
    const { session, nothingToLose } = this;
    const asked = this.#ask(call, options, borrowed);
    return asked.answer.then(
      borrowed === undefined
        ? this.#onResult
        : (result) => {
            borrowed.release();
            return this.#onResult(result);
          },
      (error: unknown) => {
        this.inFlight--;
        borrowed?.release();
        const overdue = borrowed?.overdue() === true;
        const shape = shapeOf(error);
        // SDK v1 gives its own time-outs and aborts the shape of an answer.
        const isOurs = call.options?.signal?.aborted === true || isTimeout(shape, overdue);
        if (shape.isRpc && !isOurs) this.#heard();
        return onFailure({
          call,
          generation: this,
          error,
          session,
          nothingToLose,
          observed: undefined,
          requestId: undefined,
          reached: 'endpoint',
          earlierLegMayHaveRun: asked.requests() > 1,
          askedForInput: false,
          mayBeTheHosts: asked.isCounted,
          overdue,
        });
      },
    );
  }

  /** `requests`: how many the caller's client has made of this call; where they are not counted, as many as may be. */
  #ask(
    call: Call,
    options: CallOptions | undefined,
    borrowed: RequestSignal | undefined,
  ): { answer: Promise<unknown>; isCounted: boolean; requests: () => number } {
    const each = requestsOfACall(this.#supplied);
    if (each !== 'several') {
      const isOne = each === 'one' || !MAY_TAKE_SEVERAL_REQUESTS.includes(call.spec.kind);
      const requests = () => (isOne ? 1 : Number.POSITIVE_INFINITY);
      return { answer: ask(call, this.client, options), isCounted: false, requests };
    }
    let begun = 0;
    const params = countedParams(call.params, () => {
      begun++;
    });
    const answer = ask({ ...call, params }, this.client, options);
    return {
      answer:
        borrowed === undefined ? answer : untilAborted(answer, borrowed.signal, this.client, () => false),
      isCounted: true,
      requests: () => begun,
    };
  }

  /** Also for a call that was in flight when the hooks were given back. */
  get closed(): boolean {
    return this.gone !== undefined || !isConnected(this.#supplied);
  }

  get session(): CarriedSession {
    if (!this.#showsTransport) return 'unseen';
    return carried(transportOf(this.#supplied)?.sessionId);
  }

  get isModern(): boolean {
    return requestsOfACall(this.#supplied) === 'several';
  }

  get nothingToLose(): boolean {
    const transport = transportOf(this.#supplied);
    return transport !== undefined && hasNoSession(transport);
  }

  answered(): void {}

  beginDoubt(): void {}

  reportNextMessage(): void {
    this.#reportsNext = true;
  }

  silence(): SilenceFacts {
    const inFlight = this.inFlight > 0;
    return { silentMs: 0, outstanding: false, inFlight, earlierCallInFlight: inFlight };
  }

  noteGatewayError(): boolean {
    return false;
  }

  /** The caller's handlers are as they were; ones that the caller has set since then stay. */
  giveBack(): void {
    this.#isGivenBack = true;
    this.#giveBack();
  }
}
