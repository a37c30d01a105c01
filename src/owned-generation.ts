import type { Cause } from '../machines/vocabulary.ts';
import type { Call } from './call.ts';
import type { CarriedSession, ProcessEnd } from './evidence/failure.ts';
import { ask, carried, type Generation, type OnFailure, prepareOptions } from './generation.ts';
import type { RequestSignal } from './signals.ts';
import { settledByMonitor } from './transports/answer-lost.ts';
import {
  type Callable,
  type ClientShape,
  isVersion2,
  type TransportShape,
} from './transports/client-shape.ts';
import { type Exchange, headersCarrying } from './transports/exchange.ts';
import type { Retirement, WireMonitor } from './transports/wire-monitor.ts';
import { withinLimit } from './within-limit.ts';

/** The SDK's words for a time-out and an abort, v1 and v2; an answer that says the same has been seen to come. */
const GAVE_UP: readonly unknown[] = [-32001, 'REQUEST_TIMEOUT'];

/** A generation that the supervisor made: its wire is monitored, and it is ended here. */
export class OwnedGeneration implements Generation {
  readonly number: number;
  readonly client: Callable<ClientShape>;
  closed = false;
  gone: Cause | undefined;
  pingUnsupported = false;
  readonly #transport: TransportShape | undefined;
  readonly #monitor: WireMonitor;
  readonly #isVersion2: boolean;
  #onIdle: (() => void) | undefined;

  constructor(
    number: number,
    client: ClientShape,
    transport: TransportShape | undefined,
    monitor: WireMonitor,
  ) {
    this.number = number;
    this.client = client as unknown as Callable<ClientShape>;
    this.#transport = transport;
    this.#monitor = monitor;
    this.#isVersion2 = isVersion2(client);
  }

  get inFlight(): number {
    return this.#monitor.inFlight;
  }

  get session(): CarriedSession {
    return carried(this.#transport?.sessionId);
  }

  get processEnd(): ProcessEnd | undefined {
    return (this.#transport as { processEnd?: ProcessEnd } | undefined)?.processEnd;
  }

  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown> {
    const { options, borrowed } = prepareOptions(call, leftMs);
    const exchange = this.#monitor.begin(call.options?.onresumptiontoken);
    options.onresumptiontoken = exchange.token;
    if (this.#isVersion2) options.headers = headersCarrying(exchange, options.headers);
    return ask(call, this.client, options).then(
      (result) => {
        this.#settled(exchange, false, borrowed);
        return result;
      },
      (error: unknown) => {
        this.#settled(exchange, GAVE_UP.includes(Object(error).code), borrowed);
        const overdue = borrowed?.overdue() === true;
        const session = carried(exchange.sessionId);
        return onFailure({
          call,
          generation: this,
          error,
          session,
          observed: settledByMonitor(error),
          reached: exchange.reached,
          requestId: exchange.requestId,
          earlierLegMayHaveRun: exchange.earlierLegMayHaveRun,
          overdue,
        });
      },
    );
  }

  #settled(exchange: Exchange, gaveUp: boolean, borrowed: RequestSignal | undefined): void {
    this.#monitor.end(exchange, gaveUp);
    borrowed?.release();
    if (this.#onIdle !== undefined && this.inFlight === 0) this.#onIdle();
  }

  /** Answer streams that are cut are not resumed any more. */
  retire(how: Retirement): void {
    this.#monitor.retire(how);
  }

  /** Nothing more can be answered on it. */
  answersAreLost(): void {
    this.#monitor.settleAll();
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
