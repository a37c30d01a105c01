/** The handle of one connection: it sends on the current generation, and asks the machines about the rest. */
import { type ActorRefFrom, createActor } from 'xstate';
import type {
  ConnectionEmitted,
  ConnectionEvent,
  ConnectionState,
  ProbeInput,
  ProbeOutcome,
} from '../machines/connection.machine.ts';
import { type Cause, type Evidence, isStricken, type Ownership } from '../machines/vocabulary.ts';
import { Announcer } from './announcer.ts';
import { type Call, policyFacts, remainingMs, totalMs } from './call.ts';
import { ClientMethodsBase, type Invoke } from './client-methods.ts';
import { backgroundClock, type Clock } from './clock.ts';
import { bindConnection, runnableConnectionMachine } from './connection-actors.ts';
import {
  ConnectionClosedError,
  ConnectionUnavailableError,
  InvalidOptionsError,
  type OperationFailure,
} from './errors.ts';
import type { ConnectionEvents } from './events.ts';
import type { FailedSend, Generation } from './generation.ts';
import { Generations } from './generations.ts';
import { Judge } from './judge.ts';
import type { Line, LineHooks } from './line.ts';
import type { Logger } from './logger.ts';
import { OPERATIONS, type OperationSpec, policyOf, ToolAnnotationsSeen } from './operations.ts';
import type { Settings } from './options.ts';
import { probe } from './probe.ts';
import { actionFor, type ConnectionStatus } from './status.ts';
import type { Callable, CallOptions, ClientShape } from './transports/client-shape.ts';
import { type JudgedFailure, Troubles } from './troubles.ts';
import { isDuration, MAX_DURATION_MS } from './validation.ts';

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
  readonly #judge: Judge;
  readonly #generations: Generations;
  readonly #troubles: Troubles;
  readonly #announcer: Announcer;
  readonly #actor: ActorRefFrom<typeof runnableConnectionMachine>;
  readonly #annotations: ToolAnnotationsSeen | undefined;
  #state: ConnectionState = 'idle';
  #since = Date.now();
  #probing = false;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #lastError: ConnectionStatus['lastError'];

  constructor({ name, ownership, settings, line, logger, clock }: ConnectionParts) {
    super();
    this.name = name;
    this.ownership = ownership;
    this.#settings = settings;
    this.#judge = new Judge(settings.evidence, logger);
    this.#announcer = new Announcer(name, logger);
    if (settings.replay.trustAnnotations) this.#annotations = new ToolAnnotationsSeen();
    this.#generations = new Generations(
      line({
        lost: (generation, cause) => this.#tell({ type: 'lost', generation, cause, stricken: null }),
        suspected: (generation, cause) => this.#suspect(generation, cause),
      }),
    );
    this.#troubles = new Troubles({
      name,
      ownership,
      clock,
      present: () => ({ state: this.#state, generation: this.generation, probing: this.#probing }),
      lastDial: () => this.#generations.line.lastDial,
      policyOf: (call) => this.#policyOf(call),
      demand: () => this.#tell({ type: 'demand' }),
      sendAgain: (call) => this.#sendAgain(call),
    });
    const { missedHeartbeats } = settings.liveness;
    this.#actor = createActor(runnableConnectionMachine, {
      clock: (clock ?? backgroundClock) as never,
      input: { ...settings.recovery, ownership, lazy: settings.lazy, missedHeartbeats },
    });
    bindConnection(this.#actor, {
      open: (input, signal) => this.#generations.open(input, signal),
      verify: () => this.#generations.verify(),
      probe: (input, signal) => this.#probe(input, signal),
      shutdown: () => this.#generations.line.finish(),
    });
    this.#actor.on('*', (event) => this.#hear(event));
    // Unheard, an error of the machine would end the host's process.
    this.#actor.subscribe({ error: () => this.#enter('closed', undefined) });
    this.#actor.start();
  }

  /** One of the states of the connection machine. */
  get state(): ConnectionState {
    return this.#state;
  }

  get generation(): number {
    return this.#generations.number;
  }

  get status(): ConnectionStatus {
    const reason = this.#actor.getSnapshot().context.cause ?? undefined;
    return {
      connection: this.name,
      state: this.#state,
      ownership: this.ownership,
      generation: this.generation,
      since: this.#since,
      reason,
      action: actionFor(this.#state, reason),
      inFlight: this.#generations.inFlight,
      waiting: this.#troubles.waiting,
      lastError: this.#lastError,
    };
  }

  on<T extends keyof ConnectionEvents>(type: T, listener: (event: ConnectionEvents[T]) => void): () => void {
    return this.#announcer.listeners.on(type, listener);
  }

  async reconnect(): Promise<void> {
    this.#refuseIfClosed();
    this.#tell({ type: 'reconnect' });
    await this.#until('ready', 'exhausted', 'closing', 'closed');
    this.#refuseIfClosed();
    if (this.#state !== 'ready') throw this.#unavailableError();
  }

  /** Caller-owned: `supply` has put another connection in place; the machine checks and takes it. */
  protected takeReplacement(supply: (line: Line) => void): void {
    this.#refuseIfClosed();
    supply(this.#generations.line);
    this.#tell({ type: 'replaced' });
  }

  async close(): Promise<void> {
    this.#tell({ type: 'close' });
    await this.#until('closed');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected lastClient(): Callable<ClientShape> | undefined {
    return this.#generations.last?.client;
  }

  protected perform(
    spec: OperationSpec,
    params: unknown,
    options: CallOptions | undefined,
    invoke: Invoke,
  ): Promise<unknown> {
    const timeoutMs = options?.timeout ?? this.#settings.timeouts.requestTimeoutMs;
    if (!isDuration(timeoutMs)) return Promise.reject(this.#invalidDuration('timeout'));
    const cap = options?.maxTotalTimeout;
    if (cap !== undefined && !isDuration(cap))
      return Promise.reject(this.#invalidDuration('maxTotalTimeout'));
    const call: Call = { spec, params, options, invoke, timeoutMs, startedAt: performance.now() };
    const generation = this.#generations.current;
    const answer = generation === undefined ? this.#arrive(call) : this.#send(call, generation);
    if (this.#annotations === undefined || spec !== OPERATIONS.listTools) return answer;
    return answer.then((listed) => {
      this.#annotations?.note(listed);
      return listed;
    });
  }

  #send(call: Call, generation: Generation): Promise<unknown> {
    return generation.send(call, totalMs(call), this.#onFailure);
  }

  /** Made once, so that a call that succeeds does not pay for it. */
  readonly #onFailure = (failed: FailedSend) =>
    this.#troubles.failed(failed.call, this.#judgeAndReport(failed, 'direct'));

  async #sendAgain(call: Call): Promise<unknown> {
    const generation = this.#generations.current;
    if (generation === undefined) {
      const evidence = { connection: 'lost', execution: 'none', cause: 'not-connected' } as const;
      throw { error: undefined, evidence, generation: this.generation } satisfies JudgedFailure;
    }
    return generation.send(call, remainingMs(call), async (failed) => {
      throw this.#judgeAndReport(failed, 'from-trouble');
    });
  }

  /** A call that finds no usable generation. */
  #arrive(call: Call): Promise<unknown> {
    if (call.options?.signal?.aborted) return Promise.reject(call.options.signal.reason);
    if (this.#isClosed()) return Promise.reject(this.#closedError(call));
    this.#tell({ type: 'demand' });
    const { current } = this.#generations;
    if (current !== undefined) return this.#send(call, current);
    const { waitForReady, maxWaiting } = this.#settings.recovery;
    const full = this.#troubles.waiting >= maxWaiting;
    const admission = !waitForReady ? 'not-waiting' : full ? 'queue-full' : 'waits';
    return this.#troubles.arrived(call, admission, this.#obstacle());
  }

  #obstacle(): OperationFailure | undefined {
    if (this.#state !== 'failed-ownership') return undefined;
    const { cause } = this.#actor.getSnapshot().context;
    return { connection: 'lost', execution: 'none', cause: cause ?? 'not-connected' };
  }

  /** The one place where the failure of a call reaches the connection's machine. */
  #judgeAndReport(failed: FailedSend, sent: 'direct' | 'from-trouble'): JudgedFailure {
    const { call } = failed;
    const generation = failed.generation.number;
    let evidence = this.#judge.call(failed);
    // What was in flight on a generation that is gone has no other way to learn it.
    if (evidence.connection === 'suspect' && this.#isGone(failed.generation, evidence)) {
      evidence = { ...evidence, connection: 'lost' };
    }
    const { connection, execution, cause } = evidence;
    if (connection !== 'usable') this.#lastError = { cause, generation, at: Date.now() };
    if (connection === 'lost' && execution !== 'answered') {
      // A call in trouble asks for the connection itself, if its machine still wants it.
      const facts = { kind: call.spec.kind, policy: this.#policyOf(call), execution };
      const stricken = sent === 'direct' ? facts : null;
      this.#tell({ type: 'lost', generation, cause, stricken });
    } else if (connection === 'suspect') {
      this.#suspect(generation, cause);
    }
    return { error: failed.error, evidence, generation };
  }

  #isGone(generation: Generation, evidence: Evidence): boolean {
    if (this.#state === 'failed-ownership') return true;
    return generation !== this.#generations.current && isStricken(evidence);
  }

  #suspect(generation: number, cause: Cause): void {
    const busy = (this.#generations.current?.inFlight ?? 0) > 0;
    this.#tell({ type: 'suspected', generation, cause, busy });
  }

  /** A late report, when all is over, concerns nobody. */
  #tell(event: ConnectionEvent): void {
    if (this.#state !== 'closed') this.#actor.send(event);
  }

  #policyOf(call: Call) {
    return policyOf(call.spec, policyFacts(call), this.#settings.replay, this.#annotations?.harmless);
  }

  async #probe(input: ProbeInput, signal: AbortSignal): Promise<ProbeOutcome> {
    const generation = this.#generations.current;
    if (generation === undefined) return { verdict: 'lost', cause: 'not-connected' };
    this.#probing = true;
    return probe(generation, input, {
      timeoutMs: this.#settings.liveness.probeTimeoutMs,
      signal,
      judge: (error) => this.#judge.probe(error, generation),
    });
  }

  #hear(event: ConnectionEmitted): void {
    switch (event.type) {
      case 'entered':
        this.#enter(event.state, event.cause ?? undefined);
        break;
      case 'lost':
        this.#lastError = { cause: event.cause, generation: event.generation, at: Date.now() };
        this.#announcer.lost(event.generation, event.cause);
        break;
      case 'opened':
        if (this.ownership === 'supervisor' && event.generation > 1)
          this.#announcer.recreated(event.generation);
        break;
      case 'probed':
        this.#probing = false;
        this.#troubles.connectionChanged();
        break;
    }
  }

  #enter(state: ConnectionState, cause: Cause | undefined): void {
    const from = this.#state;
    this.#state = state;
    this.#since = Date.now();
    this.#probing = false;
    clearInterval(this.#heartbeat);
    if (state === 'ready') {
      this.#generations.begin();
      this.#startHeartbeat();
    } else {
      this.#generations.retire(cause ?? 'closed');
    }
    this.#announcer.transition(from, state, this.generation, cause);
    this.#troubles.connectionChanged();
  }

  #startHeartbeat(): void {
    const { heartbeatMs } = this.#settings.liveness;
    if (heartbeatMs === undefined) return;
    this.#heartbeat = setInterval(() => this.#suspect(this.generation, 'heartbeat'), heartbeatMs);
    (this.#heartbeat as { unref?: () => void }).unref?.();
  }

  #isClosed(): boolean {
    return this.#state === 'closing' || this.#state === 'closed';
  }

  #refuseIfClosed(): void {
    if (this.#isClosed()) throw this.#closedError();
  }

  #invalidDuration(option: string): InvalidOptionsError {
    return new InvalidOptionsError(this.name, option, `expected a duration of 0 to ${MAX_DURATION_MS} ms`);
  }

  #closedError(call?: Call): ConnectionClosedError {
    const { name: connection, ownership, generation } = this;
    const operation = call && { method: call.spec.method, kind: call.spec.kind };
    return new ConnectionClosedError({ connection, ownership, generation, operation, sent: false });
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

  #until(...states: readonly ConnectionState[]): Promise<void> {
    if (states.includes(this.#state)) return Promise.resolve();
    return new Promise((resolve) => {
      const stop = this.on('transition', ({ to }) => {
        if (!states.includes(to)) return;
        stop();
        resolve();
      });
    });
  }
}
