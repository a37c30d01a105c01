/** Calls in trouble: the operation machine decides what becomes of each, this file sends and settles it. */
import { type ActorRefFrom, type AnyActorRef, createActor, fromPromise } from 'xstate';
import { type OperationEvent, operationMachine, type Unavailability } from '../machines/operation.machine.ts';
import type { Evidence, Ownership, ReplayPolicy } from '../machines/vocabulary.ts';
import { type Call, remainingMs } from './call.ts';
import type { Clock } from './clock.ts';
import {
  CallerOwnedConnectionLostError,
  ConnectionClosedError,
  ConnectionUnavailableError,
  type OperationFailure,
  OutcomeUnknownError,
} from './errors.ts';
import type { FailedDial } from './line.ts';

/** A failure of one send, judged. */
export interface JudgedFailure {
  readonly error: unknown;
  readonly evidence: OperationFailure;
  readonly generation: number;
}

/** What the connection is asked by its calls in trouble. */
export interface TroubleHost {
  readonly name: string;
  readonly ownership: Ownership;
  readonly generation: number;
  readonly clock: Clock | undefined;
  policyOf(call: Call): ReplayPolicy;
  /** Sends on the current generation. Rejects with a `JudgedFailure`. */
  sendAgain(call: Call): Promise<unknown>;
  /** Wants the connection, for one operation. */
  demand(): void;
  /** What the present state says to an operation that waits for a usable generation; nothing: wait on. */
  answerToWaiting(): OperationEvent | undefined;
  /** What is known about a generation under suspicion; nothing: wait on. */
  answerToConfirming(generation: number): OperationEvent | undefined;
  readonly lastDial: FailedDial | undefined;
}

interface Trouble {
  readonly owner: Troubles;
  readonly call: Call;
  readonly actor: ActorRefFrom<typeof operationMachine>;
  failure: JudgedFailure | undefined;
  sent: boolean;
  result: unknown;
  waitsFor: 'nothing' | 'usable' | 'proof';
}

/** Each actor's own system names its trouble, so that one provided machine serves all and holds nothing. */
const bySystem = new WeakMap<AnyActorRef['system'], Trouble>();

function troubleOf(system: AnyActorRef['system']): Trouble {
  const trouble = bySystem.get(system);
  if (trouble === undefined) throw new Error('An operation actor without its call');
  return trouble;
}

const machine = operationMachine.provide({
  actors: {
    send: fromPromise<void>(({ system }) => send(troubleOf(system))),
  },
  actions: {
    demandConnection: ({ system }) => troubleOf(system).owner.wait(troubleOf(system), 'usable'),
    awaitProof: ({ system }) => troubleOf(system).owner.wait(troubleOf(system), 'proof'),
  },
});

async function send(trouble: Trouble): Promise<void> {
  trouble.sent = true;
  try {
    trouble.result = await trouble.owner.host.sendAgain(trouble.call);
  } catch (failure) {
    trouble.failure = failure as JudgedFailure;
    throw bare(trouble.failure.evidence);
  }
}

export class Troubles {
  readonly host: TroubleHost;
  readonly #all = new Set<Trouble>();

  constructor(host: TroubleHost) {
    this.host = host;
  }

  /** How many operations are in trouble: nearly all of them wait for the connection. */
  get count(): number {
    return this.#all.size;
  }

  /** An operation that has not been sent. `evidence`: what is known to stand in its way. */
  arrived(
    call: Call,
    admission: 'waits' | 'not-waiting' | 'queue-full',
    evidence: OperationFailure | undefined,
  ): Promise<unknown> {
    return this.#begin(call, undefined, admission, evidence);
  }

  /** An operation that was sent and failed. */
  failed(call: Call, failure: JudgedFailure): Promise<unknown> {
    return this.#begin(call, failure, 'waits', failure.evidence);
  }

  /** The connection has changed: everyone who waits is answered anew. */
  connectionChanged(): void {
    for (const trouble of [...this.#all]) this.#answer(trouble);
  }

  #begin(
    call: Call,
    failure: JudgedFailure | undefined,
    admission: 'waits' | 'not-waiting' | 'queue-full',
    evidence: OperationFailure | undefined,
  ): Promise<unknown> {
    const { clock } = this.host;
    const actor = createActor(machine, {
      ...(clock === undefined ? {} : { clock }),
      input: {
        kind: call.spec.kind,
        policy: this.host.policyOf(call),
        ownership: this.host.ownership,
        evidence: evidence === undefined ? null : bare(evidence),
        sends: failure === undefined ? 0 : 1,
        admission,
        remainingMs: remainingMs(call),
      },
    });
    const sent = failure !== undefined;
    const trouble: Trouble = {
      owner: this,
      call,
      actor,
      failure,
      sent,
      result: undefined,
      waitsFor: 'nothing',
    };
    this.#all.add(trouble);
    bySystem.set(actor.system, trouble);
    return new Promise((resolve, reject) => {
      const abort = () => actor.send({ type: 'abort' });
      const settle = () => {
        this.#all.delete(trouble);
        call.options?.signal?.removeEventListener('abort', abort);
        this.#settle(trouble, evidence, resolve, reject);
      };
      call.options?.signal?.addEventListener('abort', abort, { once: true });
      actor.subscribe({ complete: settle, error: reject });
      actor.start();
    });
  }

  /** Called by the machine's actions. */
  wait(trouble: Trouble, waitsFor: 'usable' | 'proof'): void {
    if (waitsFor === 'usable') this.host.demand();
    trouble.waitsFor = waitsFor;
    this.#answer(trouble);
  }

  #answer(trouble: Trouble): void {
    if (trouble.waitsFor === 'nothing') return;
    const answer =
      trouble.waitsFor === 'usable'
        ? this.host.answerToWaiting()
        : this.host.answerToConfirming(trouble.failure?.generation ?? 0);
    if (answer === undefined) return;
    trouble.waitsFor = 'nothing';
    trouble.actor.send(answer);
  }

  #settle(
    { call, actor, failure, sent, result }: Trouble,
    arrivedWith: OperationFailure | undefined,
    resolve: (result: unknown) => void,
    reject: (error: unknown) => void,
  ): void {
    const { value, context } = actor.getSnapshot();
    const { lastDial } = this.host;
    const facts = {
      connection: this.host.name,
      ownership: this.host.ownership,
      generation: failure?.generation ?? this.host.generation,
      operation: { method: call.spec.method, kind: call.spec.kind },
      evidence: failure?.evidence ?? arrivedWith ?? lastDial?.evidence,
      cause: failure?.error ?? lastDial?.error,
      sent,
    };
    const unavailable = (why: Exclude<Unavailability, 'closed'> | 'time-spent') =>
      new ConnectionUnavailableError({
        ...facts,
        why,
        lastCause: (lastDial?.evidence ?? failure?.evidence)?.cause,
      });
    switch (value) {
      case 'answered':
        return resolve(result);
      case 'passed-through':
        return reject(failure?.error);
      case 'refused':
        return reject(new CallerOwnedConnectionLostError(facts));
      case 'unknown-outcome':
        return reject(new OutcomeUnknownError(facts));
      case 'cancelled':
        return reject(call.options?.signal?.reason);
      case 'timed-out':
        return reject(unavailable('time-spent'));
      default: {
        const why = context.unavailability ?? 'budget-spent';
        return reject(why === 'closed' ? new ConnectionClosedError(facts) : unavailable(why));
      }
    }
  }
}

/** What a machine may hold: no process output, no error. */
function bare({ connection, execution, cause }: Evidence): Evidence {
  return { connection, execution, cause };
}
