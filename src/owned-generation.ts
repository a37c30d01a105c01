import type { Cause } from '../machines/vocabulary.ts';
import type { Call } from './call.ts';
import type { CarriedSession, ProcessEnd } from './evidence/failure.ts';
import { ask, carried, type Generation, type OnFailure, prepareOptions } from './generation.ts';
import type { RequestSignal } from './signals.ts';
import {
  type Callable,
  type ClientShape,
  isVersion2,
  type TransportShape,
} from './transports/client-shape.ts';
import { type Exchange, headersCarrying } from './transports/exchange.ts';
import { type Witness, witnessedBy } from './transports/witness.ts';
import { withinLimit } from './within-limit.ts';

/** A generation that the supervisor made: its wire is witnessed, and it is ended here. */
export class OwnedGeneration implements Generation {
  readonly number: number;
  readonly client: Callable<ClientShape>;
  closed = false;
  gone: Cause | undefined;
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
    const { options, borrowed } = prepareOptions(call, leftMs);
    const exchange = this.#witness.begin(call.options?.onresumptiontoken);
    options.onresumptiontoken = exchange.token;
    if (this.#isVersion2) options.headers = headersCarrying(exchange, options.headers);
    return ask(call, this.client, options).then(
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
          witnessed: witnessedBy(error),
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
