/** What becomes of the calls of one connection: sent, waiting, judged when they fail, sent again or settled. */
import { MAX_RETRY_AFTER_MS } from '../machines/connection.machine.ts';
import type { OperationInput } from '../machines/operation.machine.ts';
import {
  type Cause,
  type DemandedOperation,
  type Evidence,
  isStricken,
  type Ownership,
  type ReplayPolicy,
} from '../machines/vocabulary.ts';
import { abortError } from './abort-error.ts';
import type { Ask } from './asks.ts';
import type { SignIn } from './authorization/sign-in.ts';
import { type Call, policyFacts, remainingMs, totalMs, wrongOption } from './call.ts';
import { type Clock, foregroundClock } from './clock.ts';
import type { ConnectionActor } from './connection-actor.ts';
import { ConnectionClosedError, InvalidOptionsError, type OperationFailure } from './errors.ts';
import type { FailedSend, Generation, OnFailure } from './generation.ts';
import type { Generations } from './generations.ts';
import { hostSleep } from './host-sleep.ts';
import type { Inspection } from './inspection.ts';
import type { Judge } from './judge.ts';
import type { FailedDial, FailedLeg } from './line.ts';
import type { Logger } from './logger.ts';
import { OPERATIONS, type OperationSpec, policyOf, ToolAnnotationsSeen } from './operations.ts';
import type { Settings } from './options.ts';
import type { AttachedTelemetry } from './telemetry.ts';
import type { CallOptions } from './transports/client-shape.ts';
import { type JudgedFailure, Troubles } from './troubles.ts';

export interface CallsParts {
  readonly name: string;
  readonly ownership: Ownership;
  readonly settings: Settings;
  readonly actor: ConnectionActor;
  readonly generations: Generations;
  readonly judge: Judge;
  readonly clock: Clock | undefined;
  readonly inspection: Inspection;
  readonly logger: Logger;
  readonly telemetry: AttachedTelemetry | undefined;
  readonly signIn: SignIn | undefined;
  /** A failure is held against the connection. */
  readonly onFault: (generation: number, cause: Cause) => void;
}

export class Calls {
  readonly #parts: CallsParts;
  readonly #troubles: Troubles;
  readonly #annotations: ToolAnnotationsSeen | undefined;

  constructor(parts: CallsParts) {
    this.#parts = parts;
    if (parts.settings.replay.trustAnnotations) this.#annotations = new ToolAnnotationsSeen();
    const { name, ownership, actor, generations, clock, inspection, logger, signIn } = parts;
    this.#troubles = new Troubles({
      name,
      ownership,
      clock: clock ?? foregroundClock,
      inspection,
      logger,
      present: () => ({
        state: actor.state,
        generation: generations.number,
        probing: actor.probing || actor.unreachable,
        notDialledBefore: notDialledBefore(generations.line.lastDial),
        awaitsSignIn: signIn?.isAwaited === true,
      }),
      lastDial: () => generations.line.lastDial,
      signInError: () =>
        actor.state === 'exhausted' || signIn?.isRequired === true ? signIn?.error : undefined,
      delayedBy: () => actor.delayedBy,
      policyOf: (call, askedForInput) => this.#policyOf(call, askedForInput),
      demand: (operation) => this.#demand(operation),
      abortError: (call, beforeCall) => this.#abortError(call, beforeCall),
      sendAgain: (call) => this.#sendAgain(call),
    });
  }

  /** How many wait for the connection. */
  get waiting(): number {
    return this.#troubles.waiting;
  }

  /** Those that wait for the connection are answered anew. */
  connectionChanged(): void {
    this.#troubles.connectionChanged();
  }

  dialFailed(serverIsMissing: boolean): void {
    this.#troubles.dialFailed(serverIsMissing);
  }

  perform(
    spec: OperationSpec,
    ask: Ask,
    params: unknown,
    options: CallOptions | undefined,
    schema: unknown,
  ): Promise<unknown> {
    const wrong = options === undefined ? undefined : wrongOption(options);
    if (wrong !== undefined) {
      return Promise.reject(new InvalidOptionsError(this.#parts.name, wrong.option, wrong.expected));
    }
    const timeoutMs = options?.timeout ?? this.#parts.settings.timeouts.requestTimeoutMs;
    const startedAt = Date.now();
    const call: Call = { spec, ask, params, schema, options, timeoutMs, startedAt, observer: undefined };
    const answer = this.#parts.telemetry === undefined ? this.#begin(call) : this.#beginObserved(call);
    if (this.#annotations === undefined || spec !== OPERATIONS.listTools) return answer;
    return answer.then((listed) => {
      this.#annotations?.note(listed);
      return listed;
    });
  }

  #begin(call: Call): Promise<unknown> {
    const generation = this.#parts.generations.current;
    if (generation === undefined) return this.#arrive(call);
    if (call.startedAt > hostSleep.quietUntil) hostSleep.look(call.startedAt);
    if (generation.sleepsSeen !== hostSleep.count) return this.#afterSleep(call, generation);
    return this.#send(call, generation);
  }

  /** The first call after the host slept waits for a probe, and so do those that come meanwhile. */
  #afterSleep(call: Call, generation: Generation): Promise<unknown> {
    const { actor, generations } = this.#parts;
    generation.sleepsSeen = hostSleep.count;
    actor.tell({ type: 'suspected', generation: generation.number, cause: 'host-slept' });
    if (actor.probing) generations.holdCalls();
    return this.#begin(call);
  }

  /** The host wants it to be ready, for no operation in particular. */
  wantConnection(): void {
    this.#readTokens();
    this.#demand({ kind: 'liveness', policy: 'safe', execution: 'unsent' });
  }

  #demand(operation: DemandedOperation): void {
    const { actor, generations } = this.#parts;
    if (!actor.heedsDemands) return;
    actor.tell({ type: 'demand', generation: generations.number, operation });
  }

  #beginObserved(call: Call): Promise<unknown> {
    const { name: connection, ownership, settings, telemetry } = this.#parts;
    const { method, kind } = call.spec;
    const transport = settings.transport?.kind;
    const { params } = call;
    const observer = telemetry?.callBegan({ connection, ownership, transport, method, kind, params });
    if (observer === undefined) return this.#begin(call);
    const answer = this.#begin({ ...call, observer, params: observer.params });
    answer.then(observer.answered, observer.rejected);
    return answer;
  }

  #send(call: Call, generation: Generation): Promise<unknown> {
    return handOver(call, generation, totalMs(call), this.#onFailure);
  }

  /** Made once, so that a call that succeeds does not pay for it. */
  readonly #onFailure = (failed: FailedSend) =>
    this.#troubles.failed(failed.call, this.#judgeAndReport(failed));

  /** Tried again as an operation is; the time that a person took is not the request's. */
  async legFailed(generation: Generation, { exchange, error, again }: FailedLeg): Promise<void> {
    const call = { ...(exchange.call as Call), startedAt: Date.now(), observer: undefined };
    const { requestId, reached } = exchange;
    const failed: FailedSend = {
      call,
      generation,
      error,
      session: 'none',
      nothingToLose: true,
      observed: undefined,
      requestId,
      reached,
      earlierLegMayHaveRun: false,
      askedForInput: false,
      mayBeTheHosts: false,
      overdue: false,
    };
    const { judge } = this.#parts;
    // All else is judged as the failure of the call.
    if (judge.call(failed).execution !== 'none') throw error;
    const judged = this.#judgeAndReport(failed);
    await this.#troubles.legFailed(call, judged, () =>
      again().catch((error: unknown) => {
        throw { ...judged, error, evidence: judge.call({ ...failed, error }) } satisfies JudgedFailure;
      }),
    );
  }

  async #sendAgain(call: Call): Promise<unknown> {
    const generation = this.#parts.generations.current;
    if (generation === undefined) {
      const evidence = { connection: 'lost', execution: 'none', cause: 'not-connected' } as const;
      throw {
        error: undefined,
        evidence,
        generation: this.#parts.generations.number,
        askedForInput: false,
      } satisfies JudgedFailure;
    }
    return handOver(call, generation, remainingMs(call), async (failed) => {
      throw this.#judgeAndReport(failed);
    });
  }

  /** A call that finds no usable generation. */
  #arrive(call: Call): Promise<unknown> {
    if (call.options?.signal?.aborted) {
      return this.#abortError(call, true).then((error) => Promise.reject(error));
    }
    if (this.#parts.actor.isClosed) return this.#refuseClosed(call);
    this.#readTokens();
    return this.#troubles.arrived(call, this.#admission(), this.#obstacle());
  }

  /** Nothing else leads out of a refusal for want of a login. */
  #readTokens(): void {
    const { actor, signIn } = this.#parts;
    if (actor.state === 'exhausted' && actor.cause === 'unauthorized') signIn?.readTokens();
  }

  #admission(): OperationInput['admission'] {
    const { settings, generations } = this.#parts;
    const { waitForReady, maxWaiting } = settings.recovery;
    if (this.#troubles.waiting >= maxWaiting) return 'queue-full';
    // Calls of a connection that is ready are held for a probe at most.
    return waitForReady || generations.live !== undefined ? 'waits' : 'not-waiting';
  }

  #obstacle(): OperationFailure | undefined {
    if (this.#parts.actor.state !== 'failed-ownership') return undefined;
    return { connection: 'lost', execution: 'none', cause: this.#parts.actor.cause ?? 'not-connected' };
  }

  #judgeAndReport(failed: FailedSend): JudgedFailure {
    const generation = failed.generation.number;
    const isCurrent = failed.generation === this.#parts.generations.live;
    let evidence = this.#parts.judge.call(failed);
    if (evidence.connection === 'suspect' && !isCurrent && this.#isGone(evidence)) {
      evidence = { ...evidence, connection: 'lost' };
    }
    if (evidence.connection !== 'usable') this.#parts.onFault(generation, evidence.cause);
    else if (evidence.execution === 'answered') failed.generation.answered(failed.call);
    failed.call.observer?.failed(evidence, generation);
    // The machine ignores what concerns another generation; a herd of such reports need not even reach it.
    if (isCurrent) this.#report(failed.generation, evidence);
    return { error: failed.error, evidence, generation, askedForInput: failed.askedForInput };
  }

  /** What was in flight on a generation that is gone has no other way to learn it. */
  #isGone(evidence: Evidence): boolean {
    const { actor, ownership } = this.#parts;
    return actor.state === 'failed-ownership' || isStricken(evidence, ownership);
  }

  /** The one place where the failure of a call reaches the connection's machine. */
  #report(generation: Generation, { connection, execution, cause }: Evidence): void {
    const { actor } = this.#parts;
    const { number } = generation;
    const isDoubt = connection === 'suspect' || (cause === 'gateway-error' && generation.noteGatewayError());
    if (isDoubt) actor.tell({ type: 'suspected', generation: number, cause });
    if (connection === 'lost' && execution !== 'answered')
      actor.tell({ type: 'lost', generation: number, cause });
  }

  #abortError({ options }: Call, beforeCall: boolean): Promise<unknown> {
    return abortError(options?.signal?.reason, this.#parts.generations.last?.client, beforeCall);
  }

  #policyOf(call: Call, askedForInput: boolean): ReplayPolicy {
    const facts = { ...policyFacts(call), askedForInput };
    return policyOf(call.spec, facts, this.#parts.settings.replay, this.#annotations?.harmless);
  }

  #refuseClosed({ spec }: Call): Promise<never> {
    const { name: connection, ownership, generations } = this.#parts;
    const operation = { method: spec.method, kind: spec.kind };
    const generation = generations.number;
    return Promise.reject(
      new ConnectionClosedError({ connection, ownership, generation, operation, sent: false }),
    );
  }
}

function notDialledBefore(lastDial: FailedDial | undefined): number {
  if (lastDial === undefined || lastDial.retryAfterMs === 0) return 0;
  return lastDial.at + Math.min(MAX_RETRY_AFTER_MS, lastDial.retryAfterMs);
}

function handOver(
  call: Call,
  generation: Generation,
  leftMs: number,
  onFailure: OnFailure,
): Promise<unknown> {
  const { observer } = call;
  if (observer === undefined) return generation.send(call, leftMs, onFailure);
  observer.sent(generation.number);
  return observer.during(() => generation.send(call, leftMs, onFailure));
}
