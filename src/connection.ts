/** The handle of one connection: it sends on the current generation, and asks the machines about the rest. */
import { type ActorRefFrom, createActor } from 'xstate';
import type {
  ConnectionEmitted,
  ConnectionEvent,
  ConnectionState,
  OpenInput,
  ProbeInput,
  ProbeOutcome,
} from '../machines/connection.machine.ts';
import type { Cause, Ownership } from '../machines/vocabulary.ts';
import { type Call, policyFacts, remainingMs, totalMs } from './call.ts';
import { ClientMethodsBase, type Invoke } from './client-methods.ts';
import { backgroundClock, type Clock } from './clock.ts';
import { bindConnection, runnableConnectionMachine } from './connection-actors.ts';
import { ConnectionClosedError, ConnectionUnavailableError, type OperationFailure } from './errors.ts';
import type { ConnectionEvents } from './events.ts';
import type { FailedSend, Generation } from './generation.ts';
import { Judge } from './judge.ts';
import type { Line, LineHooks } from './line.ts';
import { Listeners } from './listeners.ts';
import type { Logger } from './logger.ts';
import { isDeclaredHarmless, OPERATIONS, type OperationSpec, policyOf } from './operations.ts';
import type { Settings } from './options.ts';
import { probe } from './probe.ts';
import { actionFor, type ConnectionStatus } from './status.ts';
import type { Callable, CallOptions, ClientShape } from './transports/client-shape.ts';
import { type JudgedFailure, Troubles } from './troubles.ts';

export interface ConnectionParts {
  readonly name: string;
  readonly ownership: Ownership;
  readonly settings: Settings;
  readonly line: (hooks: LineHooks) => Line;
  readonly logger: Logger;
  readonly clock: Clock | undefined;
}

export class Connection extends ClientMethodsBase {
  readonly name: string;
  readonly ownership: Ownership;
  readonly #settings: Settings;
  readonly #logger: Logger;
  readonly #line: Line;
  readonly #judge: Judge;
  readonly #troubles: Troubles;
  readonly #listeners: Listeners<ConnectionEvents>;
  readonly #actor: ActorRefFrom<typeof runnableConnectionMachine>;
  readonly #harmlessTools = new Set<string>();

  /** Takes new calls. Undefined whenever the connection is not ready. */
  #current: Generation | undefined;
  /** Opened or checked, and not yet announced by the machine. */
  #candidate: Generation | undefined;
  /** Still has calls in flight after its successor took over. */
  #retired = new Set<Generation>();
  #generation = 0;
  #state: ConnectionState = 'idle';
  #since = Date.now();
  #probing = false;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #lastError: ConnectionStatus['lastError'];
  #stateChanged = new Set<() => void>();

  constructor({ name, ownership, settings, line, logger, clock }: ConnectionParts) {
    super();
    this.name = name;
    this.ownership = ownership;
    this.#settings = settings;
    this.#logger = logger;
    this.#judge = new Judge(settings.evidence, logger);
    this.#listeners = new Listeners((type) =>
      logger.error({ connection: name, event: type }, 'A listener threw'),
    );
    this.#line = line({
      lost: (generation, cause) => this.#tell({ type: 'lost', generation, cause, stricken: null }),
      suspected: (generation, cause) => this.#suspect(generation, cause),
    });
    const connection = this;
    this.#troubles = new Troubles({
      name,
      ownership,
      clock,
      get generation() {
        return connection.#generation;
      },
      get lastDial() {
        return connection.#line.lastDial;
      },
      policyOf: (call) => this.#policyOf(call),
      sendAgain: (call) => this.#sendAgain(call),
      demand: () => this.#tell({ type: 'demand' }),
      answerToWaiting: () => this.#answerToWaiting(),
      answerToConfirming: (generation) => this.#answerToConfirming(generation),
    });
    const { missedHeartbeats } = settings.liveness;
    this.#actor = createActor(runnableConnectionMachine, {
      clock: (clock ?? backgroundClock) as never,
      input: { ...settings.recovery, ownership, lazy: settings.lazy, missedHeartbeats },
    });
    bindConnection(this.#actor, {
      open: (input, signal) => this.#open(input, signal),
      verify: () => this.#verify(),
      probe: (input, signal) => this.#probe(input, signal),
      shutdown: () => this.#line.finish(),
    });
    this.#actor.on('*', (event) => this.#hear(event));
    this.#actor.subscribe({ error: () => this.#enter('closed') });
    this.#actor.start();
  }

  /** One of the states of the connection machine. */
  get state(): ConnectionState {
    return this.#state;
  }

  /** Which client is, or was last, current: 1, 2, 3 …; 0 before the first. */
  get generation(): number {
    return this.#generation;
  }

  get status(): ConnectionStatus {
    const cause = this.#actor.getSnapshot().context.cause ?? undefined;
    let inFlight = this.#current?.inFlight ?? 0;
    for (const generation of this.#retired) inFlight += generation.inFlight;
    return {
      connection: this.name,
      state: this.#state,
      ownership: this.ownership,
      generation: this.#generation,
      since: this.#since,
      reason: cause,
      action: actionFor(this.#state, cause),
      inFlight,
      waiting: this.#troubles.count,
      lastError: this.#lastError,
    };
  }

  /** Returns a function that removes the listener. A listener that throws is logged, and harms nobody. */
  on<T extends keyof ConnectionEvents>(type: T, listener: (event: ConnectionEvents[T]) => void): () => void {
    return this.#listeners.on(type, listener);
  }

  /** Owned: makes a new generation now, whatever the budget. Resolves when it is ready. */
  async reconnect(): Promise<void> {
    this.#refuseIfClosed();
    const snapshot = this.#actor.getSnapshot();
    const underWay = this.#state === 'connecting' || this.#state === 'recreating';
    if (!underWay && !snapshot.can({ type: 'reconnect' })) {
      throw new TypeError(
        `Connection "${this.name}" belongs to its caller, and is never reconnected here. ` +
          'Create and connect a new client and pass it to replace().',
      );
    }
    this.#actor.send({ type: 'reconnect' });
    await this.#untilSettled();
  }

  /** Caller-owned: `supply` has put another connection in place; the machine checks and takes it. */
  protected takeReplacement(supply: (line: Line) => void): void {
    this.#refuseIfClosed();
    supply(this.#line);
    this.#actor.send({ type: 'replaced' });
  }

  /** Owned: drains, ends the session, closes. Caller-owned: gives back. Resolves when that is done. */
  async close(): Promise<void> {
    this.#tell({ type: 'close' });
    await this.#until(() => this.#state === 'closed');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected currentClient(): Callable<ClientShape> | undefined {
    return this.#current?.client;
  }

  protected perform(
    spec: OperationSpec,
    params: unknown,
    options: CallOptions | undefined,
    invoke: Invoke,
  ): Promise<unknown> {
    const timeoutMs = options?.timeout ?? this.#settings.timeouts.requestTimeoutMs;
    if (!(timeoutMs >= 0))
      return Promise.reject(new RangeError('timeout: expected a duration of 0 ms or more'));
    const call: Call = { spec, params, options, invoke, timeoutMs, startedAt: performance.now() };
    const generation = this.#current;
    const answer = generation === undefined ? this.#arrive(call) : this.#send(call, generation);
    if (this.#settings.replay.trustAnnotations !== true || spec !== OPERATIONS.listTools) return answer;
    return answer.then((listed) => this.#noteAnnotations(listed));
  }

  #send(call: Call, generation: Generation): Promise<unknown> {
    return generation.send(call, totalMs(call), (failed) =>
      this.#troubles.failed(call, this.#judgeAndReport(call, failed)),
    );
  }

  async #sendAgain(call: Call): Promise<unknown> {
    const generation = this.#current;
    if (generation === undefined) {
      const evidence = { connection: 'lost', execution: 'none', cause: 'not-connected' } as const;
      throw { error: undefined, evidence, generation: this.#generation } satisfies JudgedFailure;
    }
    return generation.send(call, remainingMs(call), async (failed) => {
      throw this.#judgeAndReport(call, failed);
    });
  }

  /** A call that finds no usable generation. */
  #arrive(call: Call): Promise<unknown> {
    if (call.options?.signal?.aborted) return Promise.reject(call.options.signal.reason);
    if (this.#isClosed()) return Promise.reject(this.#closedError(call));
    this.#actor.send({ type: 'demand' });
    if (this.#current !== undefined) return this.#send(call, this.#current);
    const { waitForReady, maxWaiting } = this.#settings.recovery;
    const full = this.#troubles.count >= maxWaiting;
    const admission = !waitForReady ? 'not-waiting' : full ? 'queue-full' : 'waits';
    return this.#troubles.arrived(call, admission, this.#standsInTheWay());
  }

  #standsInTheWay(): OperationFailure | undefined {
    if (this.#state !== 'failed-ownership') return undefined;
    const { cause } = this.#actor.getSnapshot().context;
    return { connection: 'lost', execution: 'none', cause: cause ?? 'not-connected' };
  }

  /** The one place where a failure of a call reaches the connection's machine. */
  #judgeAndReport(call: Call, failed: FailedSend): JudgedFailure {
    const { generation, error } = failed;
    let evidence = this.#judge.call(call, failed);
    // What was in flight on a connection that its caller lost has no other way to learn it.
    if (evidence.connection === 'suspect' && this.#state === 'failed-ownership') {
      evidence = { ...evidence, connection: 'lost' };
    }
    const { connection, execution, cause } = evidence;
    if (connection !== 'usable') this.#lastError = { cause, generation: generation.number, at: Date.now() };
    if (connection === 'lost' && execution !== 'answered') {
      const stricken = { kind: call.spec.kind, policy: this.#policyOf(call), execution };
      this.#tell({ type: 'lost', generation: generation.number, cause, stricken });
    } else if (connection === 'suspect') {
      this.#suspect(generation.number, cause);
    }
    return { error, evidence, generation: generation.number };
  }

  #suspect(generation: number, cause: Cause): void {
    const busy = (this.#current?.inFlight ?? 0) > 0;
    this.#tell({ type: 'suspected', generation, cause, busy });
  }

  /** A late report, when all is over, concerns nobody. */
  #tell(event: ConnectionEvent): void {
    if (this.#state !== 'closed') this.#actor.send(event);
  }

  #policyOf(call: Call) {
    return policyOf(call.spec, policyFacts(call), this.#settings.replay, this.#harmlessTools);
  }

  #noteAnnotations(listed: unknown): unknown {
    const { tools } = listed as { tools: { name: string; annotations?: object }[] };
    for (const { name, annotations } of tools) {
      if (isDeclaredHarmless(annotations)) this.#harmlessTools.add(name);
      else this.#harmlessTools.delete(name);
    }
    return listed;
  }

  #answerToWaiting() {
    switch (this.#state) {
      case 'ready':
        return this.#probing ? undefined : ({ type: 'usable' } as const);
      case 'exhausted':
        return { type: 'unavailable', why: 'budget-spent' } as const;
      case 'failed-ownership':
        return { type: 'refused' } as const;
      case 'closing':
      case 'closed':
        return { type: 'unavailable', why: 'closed' } as const;
      default:
        return undefined;
    }
  }

  #answerToConfirming(generation: number) {
    // Nobody probes a connection that is being closed: the failure stands as the SDK threw it.
    if (this.#isClosed()) return { type: 'usable' } as const;
    if (this.#state !== 'ready' || generation !== this.#generation) return { type: 'lost' } as const;
    return this.#probing ? undefined : ({ type: 'usable' } as const);
  }

  async #open({ generation }: OpenInput, signal: AbortSignal): Promise<void> {
    const opened = await this.#line.open(generation, signal);
    // The machine may have moved on in the very tick in which the handshake finished.
    if (signal.aborted) this.#line.retire(opened, 'closed');
    else this.#candidate = opened;
  }

  #verify(): boolean {
    this.#candidate = this.#line.check(this.#generation + 1);
    return this.#candidate !== undefined;
  }

  async #probe(input: ProbeInput, signal: AbortSignal): Promise<ProbeOutcome> {
    const generation = this.#current;
    if (generation === undefined) return { verdict: 'lost', cause: 'not-connected' };
    this.#probing = true;
    return probe(generation, input, {
      timeoutMs: this.#settings.liveness.probeTimeoutMs,
      signal,
      judge: (error) => this.#judge.probe(error, generation),
    });
  }

  #hear(event: ConnectionEmitted): void {
    const { name: connection } = this;
    switch (event.type) {
      case 'entered':
        return this.#enter(event.state, event.cause ?? undefined);
      case 'lost':
        return this.#announceLoss(event);
      case 'opened':
        if (this.ownership !== 'supervisor' || event.generation === 1) return;
        this.#logger.info({ connection, generation: event.generation }, 'Connection recreated');
        return this.#listeners.emit('recreated', {
          connection,
          generation: event.generation,
          at: Date.now(),
        });
      case 'probed':
        this.#probing = false;
        return this.#troubles.connectionChanged();
    }
  }

  #enter(state: ConnectionState, cause?: Cause): void {
    const from = this.#state;
    this.#state = state;
    this.#since = Date.now();
    this.#probing = false;
    if (state === 'ready') this.#takeCandidate();
    else this.#retireCurrent(cause ?? 'closed');
    this.#announce(from, state, cause);
    this.#troubles.connectionChanged();
    for (const check of [...this.#stateChanged]) check();
  }

  #takeCandidate(): void {
    this.#current = this.#candidate;
    this.#candidate = undefined;
    this.#generation = this.#current?.number ?? this.#generation;
    const { heartbeatMs } = this.#settings.liveness;
    if (heartbeatMs === undefined) return;
    this.#heartbeat = setInterval(() => this.#suspect(this.#generation, 'heartbeat'), heartbeatMs);
    (this.#heartbeat as { unref?: () => void }).unref?.();
  }

  /** No new call reaches it from here on; the ones in flight may settle. */
  #retireCurrent(cause: Cause): void {
    clearInterval(this.#heartbeat);
    const retired = this.#current;
    if (retired === undefined) return;
    this.#current = undefined;
    for (const generation of this.#retired) if (generation.inFlight === 0) this.#retired.delete(generation);
    this.#retired.add(retired);
    this.#line.retire(retired, cause);
  }

  #announce(from: ConnectionState, to: ConnectionState, cause: Cause | undefined): void {
    const event = { connection: this.name, from, to, generation: this.#generation, cause, at: this.#since };
    this.#logger.debug({ ...event }, 'Connection state changed');
    this.#listeners.emit('transition', event);
    if (to === 'failed-ownership') this.#listeners.emit('ownership-failed', event);
  }

  #announceLoss({ generation, cause }: { generation: number; cause: Cause }): void {
    const event = { connection: this.name, generation, cause, at: Date.now() };
    this.#lastError = { cause, generation, at: event.at };
    this.#logger.warn(event, 'Connection lost');
    this.#listeners.emit('lost', event);
  }

  #isClosed(): boolean {
    return this.#state === 'closing' || this.#state === 'closed';
  }

  #closedError(call?: Call): ConnectionClosedError {
    const { name: connection, ownership } = this;
    const operation = call && { method: call.spec.method, kind: call.spec.kind };
    return new ConnectionClosedError({
      connection,
      ownership,
      generation: this.#generation,
      operation,
      sent: false,
    });
  }

  #refuseIfClosed(): void {
    if (this.#isClosed()) throw this.#closedError();
  }

  async #untilSettled(): Promise<void> {
    await this.#until(() => ['ready', 'exhausted', 'closing', 'closed'].includes(this.#state));
    this.#refuseIfClosed();
    if (this.#state !== 'exhausted') return;
    const { lastDial } = this.#line;
    throw new ConnectionUnavailableError({
      connection: this.name,
      ownership: this.ownership,
      generation: this.#generation,
      evidence: lastDial?.evidence,
      cause: lastDial?.error,
      lastCause: lastDial?.evidence.cause,
      why: 'budget-spent',
      sent: false,
    });
  }

  #until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const check = () => {
        if (!holds()) return;
        this.#stateChanged.delete(check);
        resolve();
      };
      this.#stateChanged.add(check);
    });
  }
}
