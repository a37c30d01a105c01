import type { SilenceFacts } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import { type Call, totalMs } from './call.ts';
import type { CarriedSession, ProcessEnd } from './evidence/failure.ts';
import { ask, carried, type Generation, type OnFailure, prepareOptions } from './generation.ts';
import { newPingHabits, noteIgnoredPings } from './probe.ts';
import type { RequestSignal } from './signals.ts';
import { settledByMonitor } from './transports/answer-lost.ts';
import {
  type Callable,
  type ClientShape,
  isOverHttp,
  isVersion2,
  type TransportShape,
} from './transports/client-shape.ts';
import { type Exchange, headersCarrying } from './transports/exchange.ts';
import type { WireMonitor } from './transports/wire-monitor.ts';

/** The SDK's words for a time-out and an abort, v1 and v2; an answer that says the same has been seen to come. */
const GAVE_UP: readonly unknown[] = [-32001, 'REQUEST_TIMEOUT'];

/** In a row, without any message in between: then the session behind the gateway is in doubt. */
const GATEWAY_ERRORS_IN_DOUBT = 3;

/** A generation that the supervisor made: its wire is monitored, and its line ends it. */
export class OwnedGeneration implements Generation {
  readonly number: number;
  readonly client: Callable<ClientShape>;
  readonly transport: TransportShape | undefined;
  readonly monitor: WireMonitor;
  readonly overHttp: boolean;
  readonly pings = newPingHabits();
  closed = false;
  gone: Cause | undefined;
  answeredSentAt = 0;
  sleepsSeen = 0;
  onAnswer: (() => void) | undefined;
  /** It was made because a gateway failed. */
  bornOfGatewayErrors = false;
  /** Its DELETE, while that is waited for. */
  endingSession: Promise<void> | undefined;
  readonly #isVersion2: boolean;
  /** When the first request since the last message was sent, from `Date.now()`; and after which message that was. */
  #askedAt = 0;
  #askedAfter = -1;
  #gatewayErrors = 0;
  #gatewayErrorsSince = 0;
  #onIdle: (() => void) | undefined;

  constructor(
    number: number,
    client: ClientShape,
    transport: TransportShape | undefined,
    monitor: WireMonitor,
  ) {
    this.number = number;
    this.client = client as unknown as Callable<ClientShape>;
    this.transport = transport;
    this.monitor = monitor;
    this.overHttp = transport !== undefined && isOverHttp(transport);
    this.#isVersion2 = isVersion2(client);
  }

  get inFlight(): number {
    return this.monitor.inFlight;
  }

  get session(): CarriedSession {
    return carried(this.transport?.sessionId);
  }

  get processEnd(): ProcessEnd | undefined {
    return (this.transport as { processEnd?: ProcessEnd } | undefined)?.processEnd;
  }

  get signsOfLife(): number {
    return this.monitor.messages;
  }

  /** One new session for one gateway that fails: the next is earned by an answer. */
  get earnsNewSession(): boolean {
    return !this.bornOfGatewayErrors || this.answeredSentAt > 0;
  }

  send(call: Call, leftMs: number, onFailure: OnFailure): Promise<unknown> {
    this.#asks(call.startedAt);
    const { options, borrowed } = prepareOptions(call, leftMs);
    const exchange = this.monitor.begin(call.options?.onresumptiontoken, call, totalMs(call));
    options.onresumptiontoken = exchange.token;
    if (this.#isVersion2) options.headers = headersCarrying(exchange, options.headers);
    return ask(call, this.client, options).then(
      (result) => {
        this.answered(call);
        this.#settled(exchange, false, borrowed);
        return result;
      },
      (error: unknown) => {
        this.#settled(exchange, GAVE_UP.includes(Object(error).code), borrowed);
        const overdue = borrowed?.overdue() === true;
        const session = carried(exchange.sessionId);
        const { requestId, reached, earlierLegMayHaveRun } = exchange;
        const observed = settledByMonitor(error);
        return onFailure({
          call,
          generation: this,
          error,
          session,
          observed,
          requestId,
          reached,
          earlierLegMayHaveRun,
          overdue,
        });
      },
    );
  }

  #settled(exchange: Exchange, gaveUp: boolean, borrowed: RequestSignal | undefined): void {
    this.monitor.end(exchange, gaveUp);
    borrowed?.release();
    if (this.#onIdle !== undefined && this.inFlight === 0) this.#onIdle();
  }

  answered({ startedAt, spec }: Call): void {
    this.answeredSentAt = startedAt;
    if (this.onAnswer === undefined || spec.kind === 'liveness') return;
    this.onAnswer();
    this.onAnswer = undefined;
  }

  beginDoubt(): void {
    noteIgnoredPings(this);
    const { ignored, unsupported } = this.pings;
    // A ping that the server never answers asks nothing; what was given up is still to be answered.
    if ((!ignored && !unsupported) || this.monitor.outstanding > 0) this.#asks(Date.now());
    this.monitor.mark();
  }

  /** Silence begins when something is asked: a server that nobody asks has nothing to say. */
  #asks(at: number): void {
    const { messages } = this.monitor;
    if (messages === this.#askedAfter) return;
    this.#askedAfter = messages;
    this.#askedAt = at;
  }

  reportNextMessage(): void {
    this.monitor.listenForMessage();
  }

  silence(): SilenceFacts {
    const hasAsked = this.monitor.messages === this.#askedAfter;
    return {
      silentMs: hasAsked ? Math.max(0, Date.now() - this.#askedAt) : 0,
      outstanding: this.monitor.outstanding > 0,
      inFlight: this.inFlight > 0,
      earlierCallInFlight: this.monitor.inFlightBeforeMark > 0,
    };
  }

  noteGatewayError(): boolean {
    const { messages } = this.monitor;
    if (messages !== this.#gatewayErrorsSince) this.#gatewayErrors = 0;
    this.#gatewayErrorsSince = messages;
    this.#gatewayErrors++;
    return this.#gatewayErrors >= GATEWAY_ERRORS_IN_DOUBT;
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
}
