import type { SilenceFacts } from '../machines/connection.machine.ts';
import type { Cause, Evidence } from '../machines/vocabulary.ts';
import { closedError } from './abort-error.ts';
import { signInEvidence } from './authorization/sign-in-errors.ts';
import { untilAborted } from './between-requests.ts';
import { type Call, totalMs } from './call.ts';
import { shapeOf } from './evidence/error-shape.ts';
import type { CarriedSession, ProcessEnd } from './evidence/failure.ts';
import { saysClosed } from './evidence/stdio.ts';
import { ask, carried, type Generation, type OnFailure, prepareOptions } from './generation.ts';
import { newPingHabits, noteIgnoredPings } from './probe.ts';
import type { RequestSignal } from './signals.ts';
import { settledByMonitor } from './transports/answer-lost.ts';
import {
  type Callable,
  type CallOptions,
  type ClientShape,
  hasNoSession,
  isOverHttp,
  isVersion2,
  requestsOfACall,
  type TransportShape,
  transportOf,
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
  gone: Cause | undefined;
  answeredSentAt = 0;
  sleepsSeen = 0;
  unreachableSince: number | undefined;
  onAnswer: (() => void) | undefined;
  /** It was made because a gateway failed. */
  bornOfGatewayErrors = false;
  /** Its DELETE, while that is waited for. */
  endingSession: Promise<void> | undefined;
  readonly #isVersion2: boolean;
  #hasClosed = false;
  #isModern: boolean | undefined;
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

  /** A host may have replaced the hook that tells it. */
  get closed(): boolean {
    return this.#hasClosed || transportOf(this.client as unknown as ClientShape) === undefined;
  }

  noteClosed(): void {
    this.#hasClosed = true;
  }

  get inFlight(): number {
    return this.monitor.inFlight;
  }

  get session(): CarriedSession {
    return carried(this.transport?.sessionId);
  }

  /** Known once there is a handshake, and asked for by each call. */
  get isModern(): boolean {
    this.#isModern ??= requestsOfACall(this.client) === 'several';
    return this.#isModern;
  }

  get nothingToLose(): boolean {
    return this.transport !== undefined && hasNoSession(this.transport);
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
    const { options, borrowed } = prepareOptions(call, leftMs, this.isModern);
    const exchange = this.monitor.begin(call.options?.onresumptiontoken, call, totalMs(call));
    options.onresumptiontoken = exchange.token;
    if (this.#isVersion2) options.headers = headersCarrying(exchange, options.headers);
    const answer =
      borrowed !== undefined && this.isModern
        ? this.#askInRequests(call, options, exchange, borrowed)
        : ask(call, this.client, options);
    return answer.then(
      (result) => {
        this.answered(call);
        this.#settled(exchange, false, borrowed);
        return result;
      },
      (thrown: unknown) => {
        const gaveUp = GAVE_UP.includes(Object(thrown).code);
        const { held } = exchange;
        held?.release();
        this.#settled(exchange, gaveUp && held === undefined, borrowed);
        const overdue = borrowed?.overdue() === true;
        const isLate = gaveUp && call.options?.signal?.aborted !== true;
        const error = (isLate && held?.loginNeeded) || thrown;
        const session = carried(exchange.sessionId);
        const nothingToLose = session === 'none' && this.transport?.terminateSession !== undefined;
        const { requestId, reached, earlierLegMayHaveRun, askedForInput } = exchange;
        const observed =
          this.#betweenRequests(exchange, error, overdue) ??
          signInEvidence(error) ??
          (held === undefined ? settledByMonitor(error) : evidenceOfHeld(gaveUp));
        return onFailure({
          call,
          generation: this,
          error,
          session,
          nothingToLose,
          observed,
          requestId,
          reached,
          earlierLegMayHaveRun,
          askedForInput,
          mayBeTheHosts: false,
          overdue,
        });
      },
    );
  }

  /** The signal of its own also tells the host's handlers that their answer is not wanted any more. */
  #askInRequests(
    call: Call,
    options: CallOptions,
    exchange: Exchange,
    borrowed: RequestSignal,
  ): Promise<unknown> {
    const answer = ask(call, this.client, options);
    exchange.onCut = () => borrowed.abort(closedError());
    return untilAborted(answer, borrowed.signal, this.client, () => exchange.awaitsInput);
  }

  /** While it awaits input nothing is on the wire, so its error is the host's own, or that of its end. */
  #betweenRequests(
    { awaitsInput, wasCut }: Exchange,
    error: unknown,
    overdue: boolean,
  ): Evidence | undefined {
    if (!awaitsInput) return undefined;
    if (wasCut || (this.closed && saysClosed(shapeOf(error)))) {
      return { connection: 'lost', execution: 'unknown', cause: 'connection-closed' };
    }
    return { connection: 'usable', execution: 'unknown', cause: overdue ? 'timeout' : 'unrecognised' };
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
    let timer: ReturnType<typeof setTimeout> | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.idle(), limit]);
    clearTimeout(timer);
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    if (this.inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

/** Of a request that waited for a sign-in: nobody ran it. */
function evidenceOfHeld(gaveUp: boolean): Evidence {
  if (gaveUp) return { connection: 'usable', execution: 'none', cause: 'timeout' };
  return { connection: 'lost', execution: 'none', cause: 'not-connected' };
}
