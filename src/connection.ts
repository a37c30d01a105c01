/** The handle of one connection: its public face, and the wiring of machine, line and calls. */
import type {
  ConnectionInput,
  ConnectionState,
  OpenFailure,
  OpenInput,
  ProbeInput,
  ProbeOutcome,
} from '../machines/connection.machine.ts';
import type { Cause, Ownership } from '../machines/vocabulary.ts';
import { Announcer } from './announcer.ts';
import type { Ask } from './asks.ts';
import type { SignIn } from './authorization/sign-in.ts';
import { Calls } from './calls.ts';
import { ClientMethodsBase } from './client-methods.ts';
import type { Clock } from './clock.ts';
import { ConnectionActor, type Outcome } from './connection-actor.ts';
import type { SupervisorError } from './errors.ts';
import type { ConnectionEvents } from './events.ts';
import { Generations } from './generations.ts';
import type { Inspection } from './inspection.ts';
import { Judge } from './judge.ts';
import type { Line, LineHooks } from './line.ts';
import type { Logger } from './logger.ts';
import type { OperationSpec } from './operations.ts';
import type { Settings } from './options.ts';
import { probe } from './probe.ts';
import { stateError } from './state-error.ts';
import { actionFor, type ConnectionStatus } from './status.ts';
import type { AttachedTelemetry } from './telemetry.ts';
import type { Callable, CallOptions, ClientShape } from './transports/client-shape.ts';
import { Watching } from './watching.ts';
import { abortable, keepingProcess } from './within-limit.ts';

/** Where a wait for the connection ends. */
const SETTLED: readonly Outcome[] = [
  'ready',
  'exhausted',
  'failed-ownership',
  'closing',
  'closed',
  'server-missing',
];

export interface ConnectionParts {
  readonly name: string;
  readonly ownership: Ownership;
  readonly settings: Settings;
  readonly line: (hooks: LineHooks) => Line;
  readonly logger: Logger;
  readonly clock: Clock | undefined;
  readonly inspection: Inspection;
  readonly telemetry: AttachedTelemetry | undefined;
  /** Where the host gave an `authProvider`. */
  readonly signIn: SignIn | undefined;
}

export class Connection extends ClientMethodsBase {
  readonly name: string;
  readonly ownership: Ownership;
  protected readonly signIn: SignIn | undefined;
  readonly #settings: Settings;
  readonly #judge: Judge;
  readonly #generations: Generations;
  readonly #calls: Calls;
  readonly #announcer: Announcer;
  readonly #actor: ConnectionActor;
  readonly #watching: Watching;
  #lastError: ConnectionStatus['lastError'];

  constructor(parts: ConnectionParts) {
    super();
    const { name, ownership, settings, line, logger, clock, inspection, telemetry, signIn } = parts;
    this.name = name;
    this.ownership = ownership;
    this.#settings = settings;
    this.#judge = new Judge(settings.evidence, ownership, logger);
    this.#announcer = new Announcer(name, logger);
    this.signIn = signIn;
    this.#generations = new Generations(
      line({
        lost: (generation, cause) => this.#actor.tell({ type: 'lost', generation, cause }),
        suspected: (generation, cause) => this.#actor.tell({ type: 'suspected', generation, cause }),
        heard: (generation) => this.#actor.tell({ type: 'heard', generation }),
        listenStreamLost: (generation, loss) => this.#announcer.listenStreamLost(generation, loss),
        legFailed: (generation, leg) => this.#calls.legFailed(generation, leg),
      }),
    );
    this.#actor = new ConnectionActor(
      name,
      machineInput(ownership, settings),
      clock,
      inspection,
      {
        retire: () => this.#retire(),
        open: (input, signal) => this.#open(input, signal),
        verify: () => this.#generations.verify(),
        probe: (input, signal) => this.#probe(input, signal),
        shutdown: () => this.#generations.line.finish(),
        readTokens: () => void signIn?.readTokens(),
      },
      {
        entered: (state, from, cause) => this.#entered(state, from, cause),
        lost: (generation, cause) => this.#lost(generation, cause),
        opened: (generation) => this.#opened(generation),
        dialFailed: (serverIsMissing) => this.#calls.dialFailed(serverIsMissing),
        probeBegins: () => this.#watching.probeBegins(),
        probeEnded: (found) => {
          this.#watching.probeEnded(found);
          this.#calls.connectionChanged();
        },
      },
    );
    this.#watching = new Watching(this.#actor, this.#generations, settings);
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
      signIn,
      onFault: (generation, cause) => this.#noteFault(generation, cause),
    });
    signIn?.join({
      isHeard: () => this.#announcer.listeners.has('authorization-required'),
      required: (url, generation) => this.#announcer.authorizationRequired(url, generation),
      authorized: () => this.#actor.tell({ type: 'authorized' }),
      changed: () => this.#calls.connectionChanged(),
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
    const authorization = this.signIn?.isRequired ? 'required' : undefined;
    return {
      connection: this.name,
      state: this.#actor.state,
      ownership: this.ownership,
      generation: this.generation,
      protocolVersion: this.#generations.protocolVersion,
      since: this.#actor.since,
      suspectSince: this.#actor.suspectSince,
      reason,
      action: actionFor(this.#actor.state, reason, authorization),
      authorization,
      inFlight: this.#generations.inFlight,
      waiting: this.#calls.waiting,
      lastError: this.#lastError,
    };
  }

  on<T extends keyof ConnectionEvents>(type: T, listener: (event: ConnectionEvents[T]) => void): () => void {
    return this.#announcer.listeners.on(type, listener);
  }

  async ready({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    signal?.throwIfAborted();
    if (this.state === 'ready') return;
    this.#calls.wantConnection();
    // What leads out of these by itself (a login, a cool-down) may take any time.
    const settled = SETTLED.includes(this.state) ? this.state : this.#actor.next(...SETTLED);
    await keepingProcess(this.#settledAs(settled, signal));
  }

  async reconnect(): Promise<void> {
    this.refuseIfClosed();
    this.signIn?.restart();
    const settled = this.#actor.next(...SETTLED);
    this.#actor.tell({ type: 'reconnect' });
    await keepingProcess(this.#settledAs(settled));
  }

  /** Caller-owned: `supply` has put another connection in place; the machine checks and takes it. */
  protected takeReplacement(supply: (line: Line) => void): void {
    this.refuseIfClosed();
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

  protected lastProtocolVersion(): string | undefined {
    return this.#generations.protocolVersion;
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

  async #retire(): Promise<void> {
    try {
      await this.#generations.line.retired();
    } catch (failure) {
      this.#announcer.notEnded(this.generation, failure as OpenFailure);
      throw failure;
    }
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
    const generation = this.#generations.live;
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
    this.#watching.stop();
    if (state === 'ready') {
      this.#generations.begin();
      this.#watchForAnswer();
      this.#watching.start();
      this.#reportEarlyLoss();
    } else {
      this.#generations.retire(cause ?? 'closed');
      if (state === 'exhausted' || this.#actor.isClosed) this.#generations.dropCandidate();
      if (state === 'closed') this.signIn?.leave();
    }
    this.#announcer.transition(from, state, this.generation, cause);
    this.#calls.connectionChanged();
    if (state === 'exhausted') this.signIn?.dialRefused();
  }

  /** The first answer of a generation that follows failures proves that the server is well again. */
  #watchForAnswer(): void {
    const { live } = this.#generations;
    if (live === undefined || !this.#actor.owesAnAnswer) return;
    live.onAnswer = () => this.#actor.tell({ type: 'answered', generation: live.number });
  }

  /** It went between the end of its handshake and now, when the machine did not know its number yet. */
  #reportEarlyLoss(): void {
    const { number, gone } = this.#generations.live ?? {};
    if (number !== undefined && gone !== undefined) {
      this.#actor.tell({ type: 'lost', generation: number, cause: gone });
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
    if (this.ownership !== 'supervisor' || generation === 1) return;
    const { protocolVersion, previousProtocolVersion } = this.#generations;
    this.#announcer.recreated(generation, protocolVersion, previousProtocolVersion);
  }

  async #settledAs(settled: Outcome | Promise<Outcome>, signal?: AbortSignal): Promise<void> {
    let outcome = await abortable(Promise.resolve(settled), signal);
    while (outcome === 'exhausted' && this.signIn?.isAwaited) {
      const next = this.#actor.next(...SETTLED);
      const changed = this.signIn.nextChange().then(() => (SETTLED.includes(this.state) ? this.state : next));
      outcome = await abortable(Promise.race([next, changed]), signal);
    }
    if (outcome === 'ready') return;
    throw (outcome === 'exhausted' && this.signIn?.error) || this.#errorOf(outcome);
  }

  protected refuseIfClosed(): void {
    if (this.#actor.isClosed) throw this.#errorOf(this.state);
  }

  #errorOf(outcome: Outcome): SupervisorError {
    const { name: connection, ownership, generation } = this;
    const { lastDial } = this.#generations.line;
    return stateError(outcome, { connection, ownership, generation }, this.#actor.cause, lastDial);
  }
}

function machineInput(
  ownership: Ownership,
  { recovery, liveness, lazy, transport }: Settings,
): ConnectionInput {
  const { missedProbes, probeTimeoutMs, silenceMs, busySilenceMs } = liveness;
  // The spread comes last: see `liveness` in validation.ts.
  return {
    ownership,
    lazy,
    spawns: transport?.kind === 'stdio',
    signsIn: transport?.authProvider !== undefined,
    missedProbes,
    probeTimeoutMs,
    silenceMs,
    busySilenceMs,
    ...recovery,
  };
}
