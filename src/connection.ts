/** The handle of one connection: its public face, and the wiring of machine, line and calls. */
import type {
  ConnectionState,
  OpenFailure,
  OpenInput,
  ProbeInput,
  ProbeOutcome,
} from '../machines/connection.machine.ts';
import type { Cause, Ownership } from '../machines/vocabulary.ts';
import { Announcer } from './announcer.ts';
import type { Ask } from './asks.ts';
import { Calls } from './calls.ts';
import { ClientMethodsBase } from './client-methods.ts';
import type { Clock } from './clock.ts';
import { ConnectionActor } from './connection-actor.ts';
import { ConnectionClosedError, ConnectionUnavailableError } from './errors.ts';
import type { ConnectionEvents } from './events.ts';
import { Generations } from './generations.ts';
import type { Inspection } from './inspection.ts';
import { Judge } from './judge.ts';
import type { Line, LineHooks } from './line.ts';
import type { Logger } from './logger.ts';
import type { OperationSpec } from './operations.ts';
import type { Settings } from './options.ts';
import { probe } from './probe.ts';
import { actionFor, type ConnectionStatus } from './status.ts';
import type { AttachedTelemetry } from './telemetry.ts';
import type { Callable, CallOptions, ClientShape } from './transports/client-shape.ts';

export interface ConnectionParts {
  readonly name: string;
  readonly ownership: Ownership;
  readonly settings: Settings;
  readonly line: (hooks: LineHooks) => Line;
  readonly logger: Logger;
  readonly clock: Clock | undefined;
  readonly inspection: Inspection;
  readonly telemetry: AttachedTelemetry | undefined;
}

export class Connection extends ClientMethodsBase {
  readonly name: string;
  readonly ownership: Ownership;
  readonly #settings: Settings;
  readonly #judge: Judge;
  readonly #generations: Generations;
  readonly #calls: Calls;
  readonly #announcer: Announcer;
  readonly #actor: ConnectionActor;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #lastError: ConnectionStatus['lastError'];

  constructor({ name, ownership, settings, line, logger, clock, inspection, telemetry }: ConnectionParts) {
    super();
    this.name = name;
    this.ownership = ownership;
    this.#settings = settings;
    this.#judge = new Judge(settings.evidence, logger);
    this.#announcer = new Announcer(name, logger);
    this.#generations = new Generations(
      line({
        lost: (generation, cause) => this.#actor.tell({ type: 'lost', generation, cause, stricken: null }),
        suspected: (generation, cause) => this.#calls.suspect(generation, cause),
      }),
    );
    const { missedHeartbeats } = settings.liveness;
    this.#actor = new ConnectionActor(
      name,
      { ...settings.recovery, ownership, lazy: settings.lazy, missedHeartbeats },
      clock,
      inspection,
      {
        open: (input, signal) => this.#open(input, signal),
        verify: () => this.#generations.verify(),
        probe: (input, signal) => this.#probe(input, signal),
        shutdown: () => this.#generations.line.finish(),
      },
      {
        entered: (state, from, cause) => this.#entered(state, from, cause),
        lost: (generation, cause) => this.#lost(generation, cause),
        opened: (generation) => this.#opened(generation),
        probed: () => this.#calls.connectionChanged(),
      },
    );
    this.#calls = new Calls({
      name,
      ownership,
      settings,
      clock,
      inspection,
      telemetry,
      logger,
      actor: this.#actor,
      generations: this.#generations,
      judge: this.#judge,
      onFault: (generation, cause) => this.#noteFault(generation, cause),
    });
    this.#actor.start();
  }

  /** One of the states of the connection machine. */
  get state(): ConnectionState {
    return this.#actor.state;
  }

  get generation(): number {
    return this.#generations.number;
  }

  get status(): ConnectionStatus {
    const reason = this.#actor.cause;
    return {
      connection: this.name,
      state: this.#actor.state,
      ownership: this.ownership,
      generation: this.generation,
      since: this.#actor.since,
      reason,
      action: actionFor(this.#actor.state, reason),
      inFlight: this.#generations.inFlight,
      waiting: this.#calls.waiting,
      lastError: this.#lastError,
    };
  }

  on<T extends keyof ConnectionEvents>(type: T, listener: (event: ConnectionEvents[T]) => void): () => void {
    return this.#announcer.listeners.on(type, listener);
  }

  async reconnect(): Promise<void> {
    this.#refuseIfClosed();
    const settled = this.#actor.next('ready', 'exhausted', 'closing', 'closed');
    this.#actor.tell({ type: 'reconnect' });
    const state = await settled;
    if (state === 'exhausted') throw this.#unavailableError();
    if (state !== 'ready') throw this.#closedError();
  }

  /** Caller-owned: `supply` has put another connection in place; the machine checks and takes it. */
  protected takeReplacement(supply: (line: Line) => void): void {
    this.#refuseIfClosed();
    supply(this.#generations.line);
    this.#actor.tell({ type: 'replaced' });
  }

  async close(): Promise<void> {
    if (this.state === 'closed') return;
    const closed = this.#actor.next('closed');
    this.#actor.tell({ type: 'close' });
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected lastClient(): Callable<ClientShape> | undefined {
    return this.#generations.last?.client;
  }

  protected perform(
    spec: OperationSpec,
    ask: Ask,
    params: unknown,
    options: CallOptions | undefined,
    schema?: unknown,
  ): Promise<unknown> {
    return this.#calls.perform(spec, ask, params, options, schema);
  }

  async #open(input: OpenInput, signal: AbortSignal): Promise<void> {
    try {
      await this.#generations.open(input, signal);
    } catch (failure) {
      if (!signal.aborted) this.#announcer.dialFailed(input, failure as OpenFailure);
      throw failure;
    }
  }

  async #probe(input: ProbeInput, signal: AbortSignal): Promise<ProbeOutcome> {
    const generation = this.#generations.current;
    if (generation === undefined) return { verdict: 'lost', cause: 'not-connected' };
    const outcome = await probe(generation, input, {
      timeoutMs: this.#settings.liveness.probeTimeoutMs,
      signal,
      judge: (error) => this.#judge.probe(error, generation),
    });
    if (!signal.aborted) this.#announcer.probed(input, outcome);
    return outcome;
  }

  #entered(state: ConnectionState, from: ConnectionState, cause: Cause | undefined): void {
    clearInterval(this.#heartbeat);
    if (state === 'ready') {
      this.#generations.begin();
      this.#reportEarlyLoss();
      this.#startHeartbeat();
    } else {
      this.#generations.retire(cause ?? 'closed');
      if (state === 'exhausted' || this.#actor.isClosed) this.#generations.dropCandidate();
    }
    this.#announcer.transition(from, state, this.generation, cause);
    this.#calls.connectionChanged();
  }

  /** It went between the end of its handshake and now, when the machine did not know its number yet. */
  #reportEarlyLoss(): void {
    const { number, gone } = this.#generations.current ?? {};
    if (number !== undefined && gone !== undefined) {
      this.#actor.tell({ type: 'lost', generation: number, cause: gone, stricken: null });
    }
  }

  #lost(generation: number, cause: Cause): void {
    this.#noteFault(generation, cause);
    this.#announcer.lost(generation, cause);
  }

  #noteFault(generation: number, cause: Cause): void {
    this.#lastError = { cause, generation, at: Date.now() };
  }

  #opened(generation: number): void {
    if (this.ownership === 'supervisor' && generation > 1) this.#announcer.recreated(generation);
  }

  #startHeartbeat(): void {
    const { heartbeatMs } = this.#settings.liveness;
    if (heartbeatMs === undefined) return;
    this.#heartbeat = setInterval(() => this.#calls.suspect(this.generation, 'heartbeat'), heartbeatMs);
    (this.#heartbeat as { unref?: () => void }).unref?.();
  }

  #refuseIfClosed(): void {
    if (this.#actor.isClosed) throw this.#closedError();
  }

  #closedError(): ConnectionClosedError {
    const { name: connection, ownership, generation } = this;
    return new ConnectionClosedError({ connection, ownership, generation, sent: false });
  }

  #unavailableError(): ConnectionUnavailableError {
    const { name: connection, ownership, generation } = this;
    const { lastDial } = this.#generations.line;
    return new ConnectionUnavailableError({
      connection,
      ownership,
      generation,
      evidence: lastDial?.evidence,
      cause: lastDial?.error,
      lastCause: lastDial?.evidence.cause,
      why: 'budget-spent',
      sent: false,
    });
  }
}
