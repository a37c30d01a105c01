/** Calls in trouble: the operation machine decides what becomes of each, this file sends and settles it. */
import { type ActorRefFrom, type AnyActorRef, createActor } from 'xstate';
import { type OperationEvent, type OperationInput, operationMachine } from '../machines/operation.machine.ts';
import type { Cause, DemandedOperation, Evidence, Ownership, ReplayPolicy } from '../machines/vocabulary.ts';
import { type Call, remainingMs } from './call.ts';
import type { Clock } from './clock.ts';
import type { OperationFailure } from './errors.ts';
import type { Inspection } from './inspection.ts';
import type { FailedDial } from './line.ts';
import type { Logger } from './logger.ts';
import { logDecision, type OperationDecision } from './operation-log.ts';
import { answerToConfirming, answerToWaiting, isUsableStill, type Present } from './trouble-answers.ts';
import { endingError } from './trouble-errors.ts';

/** A failure of one send, judged. */
export interface JudgedFailure {
  readonly error: unknown;
  readonly evidence: OperationFailure;
  readonly generation: number;
  readonly askedForInput: boolean;
}

/** What the calls in trouble ask of their connection. */
export interface TroubleHost {
  readonly name: string;
  readonly ownership: Ownership;
  /** Keeps the deadline of a call that waits, and with it the host's process. */
  readonly clock: Clock;
  readonly inspection: Inspection;
  readonly logger: Logger;
  present(): Present;
  lastDial(): FailedDial | undefined;
  /** Why nothing is dialled before somebody signs in, if that is so. */
  signInError(): unknown;
  /** Why operations wait. */
  delayedBy(): Cause | undefined;
  /** `askedForInput`: the server has asked the host for input. */
  policyOf(call: Call, askedForInput: boolean): ReplayPolicy;
  demand(operation: DemandedOperation): void;
  abortError(call: Call, beforeCall: boolean): Promise<unknown>;
  /** Sends on the current generation. Rejects with a `JudgedFailure`. */
  sendAgain(call: Call): Promise<unknown>;
}

interface Trouble {
  readonly owner: Troubles;
  readonly call: Call;
  /** Of a call of several requests, one that is not its first: sends it where it was sent, or rejects as `sendAgain`. */
  readonly leg: (() => Promise<void>) | undefined;
  readonly actor: ActorRefFrom<typeof operationMachine>;
  /** What stood in its way when it arrived. */
  readonly obstacle: OperationFailure | undefined;
  failure: JudgedFailure | undefined;
  sent: boolean;
  result: unknown;
  /** Itself, as it asks for the connection. */
  demanded: DemandedOperation | undefined;
  waitsFor: 'nothing' | 'usable' | 'proof';
}

interface Beginning extends Partial<Pick<Trouble, 'leg' | 'obstacle' | 'failure'>> {
  readonly call: Call;
  readonly admission: OperationInput['admission'];
}

/** Each root actor has a system of its own, which names its trouble: one provided machine serves all. */
const bySystem = new WeakMap<AnyActorRef['system'], Trouble>();

function troubleOf(system: AnyActorRef['system']): Trouble {
  const trouble = bySystem.get(system);
  if (trouble === undefined) throw new Error('An operation actor without its call');
  return trouble;
}

const runnableOperationMachine = operationMachine.provide({
  actions: {
    demandConnection: ({ system }, operation) => {
      const trouble = troubleOf(system);
      trouble.demanded = operation;
      trouble.owner.host.demand(operation);
      trouble.owner.wait(trouble, 'usable');
    },
    awaitProof: ({ system }) => {
      const trouble = troubleOf(system);
      trouble.owner.wait(trouble, 'proof');
    },
    send: ({ system }) => send(troubleOf(system)),
  },
});

function send(trouble: Trouble): void {
  if (trouble.sent) log(trouble, 'sent-again');
  trouble.sent = true;
  const { owner, call, leg } = trouble;
  (leg === undefined ? owner.host.sendAgain(call) : leg()).then(
    (result) => {
      trouble.result = result;
      tell(trouble, { type: 'answered' });
    },
    (failure: JudgedFailure) => {
      trouble.failure = failure;
      tell(trouble, { type: 'failed', evidence: bare(failure.evidence) });
    },
  );
}

function log({ owner: { host }, call, failure, obstacle }: Trouble, decision: OperationDecision): void {
  const { method, kind } = call.spec;
  const { cause, execution } = failure?.evidence ?? obstacle ?? {};
  const { generation } = host.present();
  logDecision(host.logger, decision, { connection: host.name, generation, method, kind, cause, execution });
}

/** One that was cancelled meanwhile has ended. */
function tell({ actor }: Trouble, event: OperationEvent): void {
  if (actor.getSnapshot().status === 'active') actor.send(event);
}

/** What a machine may hold: no process output, no error. */
function bare({ connection, execution, cause }: Evidence): Evidence {
  return { connection, execution, cause };
}

export class Troubles {
  readonly host: TroubleHost;
  #all: Set<Trouble> | undefined;

  constructor(host: TroubleHost) {
    this.host = host;
  }

  /** How many operations wait for the connection. */
  get waiting(): number {
    let waiting = 0;
    for (const { waitsFor } of this.#all ?? []) if (waitsFor !== 'nothing') waiting++;
    return waiting;
  }

  /** An operation that has not been sent. `obstacle`: what is known to stand in its way. */
  arrived(
    call: Call,
    admission: OperationInput['admission'],
    obstacle: OperationFailure | undefined,
  ): Promise<unknown> {
    return this.#begin({ call, admission, obstacle });
  }

  /** An operation that was sent and failed. */
  failed(call: Call, failure: JudgedFailure): Promise<unknown> {
    return this.#begin({ call, admission: 'waits', failure });
  }

  /** A later request of a call that was answered before. It is bound to its generation. */
  async legFailed(call: Call, failure: JudgedFailure, leg: () => Promise<void>): Promise<void> {
    await this.#begin({ call, admission: 'waits', failure, leg });
  }

  /** The connection has changed: one of those that wait asks for it again, and all are answered anew. */
  connectionChanged(): void {
    for (const { waitsFor, demanded } of this.#all ?? []) {
      if (waitsFor !== 'usable' || demanded === undefined) continue;
      this.host.demand(demanded);
      break;
    }
    for (const trouble of [...(this.#all ?? [])]) this.#answer(trouble);
  }

  /** Another dial will follow; whoever cannot wait for it, or waits for a server that is not there, is told. */
  dialFailed(serverIsMissing: boolean): void {
    for (const trouble of [...(this.#all ?? [])]) {
      if (!serverIsMissing) this.#answer(trouble);
      else if (trouble.waitsFor === 'usable') {
        trouble.waitsFor = 'nothing';
        trouble.actor.send({ type: 'unavailable', why: 'server-missing' });
      }
    }
  }

  /** Called by the machine's actions. */
  wait(trouble: Trouble, waitsFor: 'usable' | 'proof'): void {
    trouble.waitsFor = waitsFor;
    if (!this.#answer(trouble)) log(trouble, waitsFor === 'usable' ? 'awaiting' : 'confirming');
  }

  #begin({ call, admission, failure, obstacle, leg }: Beginning): Promise<unknown> {
    const evidence = failure?.evidence ?? obstacle;
    const { name, ownership, inspection } = this.host;
    const { kind } = call.spec;
    const actor = createActor(runnableOperationMachine, {
      id: `${name}: ${kind}`,
      ...inspection.actorOptions(name),
      input: {
        kind,
        policy: this.host.policyOf(call, failure?.askedForInput === true),
        ownership,
        evidence: evidence === undefined ? null : bare(evidence),
        sends: failure === undefined ? 0 : 1,
        admission,
      },
    });
    inspection.began(actor, name);
    call.observer?.inTrouble(actor.sessionId);
    const sent = failure !== undefined;
    const trouble: Trouble = {
      owner: this,
      call,
      leg,
      actor,
      obstacle,
      failure,
      sent,
      result: undefined,
      demanded: undefined,
      waitsFor: 'nothing',
    };
    this.#all ??= new Set();
    this.#all.add(trouble);
    bySystem.set(actor.system, trouble);
    return this.#run(trouble);
  }

  #run(trouble: Trouble): Promise<unknown> {
    const { actor, call } = trouble;
    const signal = call.options?.signal;
    return new Promise((resolve, reject) => {
      const { clock } = this.host;
      const timer = clock.setTimeout(() => tell(trouble, { type: 'deadline' }), remainingMs(call));
      const abort = () => tell(trouble, { type: 'abort' });
      signal?.addEventListener('abort', abort, { once: true });
      const end = () => {
        this.#all?.delete(trouble);
        if (this.#all?.size === 0) this.#all = undefined;
        this.host.inspection.ended(actor);
        clock.clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      };
      const complete = () => {
        end();
        log(trouble, actor.getSnapshot().value);
        const { value } = actor.getSnapshot();
        if (value === 'answered') resolve(trouble.result);
        else if (value === 'cancelled') this.host.abortError(call, false).then(reject);
        else reject(this.#errorOf(trouble));
      };
      const error = (reason: unknown) => {
        end();
        reject(reason);
      };
      actor.subscribe({ complete, error });
      actor.start();
      if (signal?.aborted) abort();
    });
  }

  /** Whether there was something to say to it. */
  #answer(trouble: Trouble): boolean {
    if (trouble.waitsFor === 'nothing') return false;
    const answer = this.#answerTo(trouble, this.host.present());
    if (answer === undefined) return false;
    trouble.waitsFor = 'nothing';
    trouble.actor.send(answer);
    return true;
  }

  #answerTo({ leg, waitsFor, failure, call }: Trouble, present: Present): OperationEvent | undefined {
    const { generation = 0 } = failure ?? {};
    if (waitsFor === 'proof') return answerToConfirming(present, generation);
    if (leg !== undefined && !isUsableStill(present, generation))
      return { type: 'unavailable', why: 'closed' };
    return answerToWaiting(present, remainingMs(call));
  }

  #errorOf({ actor, call, leg, failure, obstacle, sent }: Trouble): unknown {
    const { value, context } = actor.getSnapshot();
    // Judged once more, with its call.
    if (leg !== undefined) return failure?.error;
    return endingError(value, context.unavailability, {
      connection: this.host.name,
      ownership: this.host.ownership,
      generation: failure?.generation ?? this.host.present().generation,
      call,
      sent,
      error: failure?.error,
      // The machine knows what a probe has proved since.
      evidence: failure === undefined ? obstacle : { ...failure.evidence, ...context.evidence },
      lastDial: this.host.lastDial(),
      signInError: this.host.signInError(),
      delayedBy: this.host.delayedBy(),
    });
  }
}
