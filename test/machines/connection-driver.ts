/** The connection machine with actors that the test settles, and a clock that it turns. Nothing here is real. */
import { type ActorRefFrom, type AnyActorRef, createActor, fromCallback, fromPromise } from 'xstate';
import {
  type ConnectionEmitted,
  type ConnectionEvent,
  type ConnectionInput,
  connectionMachine,
  type OpenFailure,
  type OpenInput,
  type ProbeInput,
  type ProbeOutcome,
} from '../../machines/connection.machine.ts';
import type { Cause, DemandedOperation } from '../../machines/vocabulary.ts';
import { PickingClock } from '../../src/testing/picking-clock.ts';
import { stateName } from '../paths/state-name.ts';
import { type Deferred, deferred } from '../support/deferred.ts';

export const BUDGET: ConnectionInput = {
  ownership: 'supervisor',
  lazy: false,
  spawns: false,
  signsIn: false,
  recreate: 'on-demand',
  maxAttempts: 3,
  windowMs: 60_000,
  firstReadyMs: 600,
  stableMs: 5_000,
  coolDownMs: 10_000,
  initialBackoffMs: 100,
  maxBackoffMs: 400,
  missedProbes: 3,
  probeTimeoutMs: 1_000,
  silenceMs: 2_000,
  busySilenceMs: 3_000,
};

export const RETRYABLE: OpenFailure = { cause: 'unreachable', permanent: false, retryAfterMs: 0 };
export const PERMANENT: OpenFailure = { cause: 'unauthorized', permanent: true, retryAfterMs: 0 };

interface Started<I, O> extends Deferred<O> {
  readonly input: I;
  readonly signal: AbortSignal;
  settled: boolean;
}

export class ConnectionDriver {
  readonly clock = new PickingClock();
  readonly emitted: ConnectionEmitted[] = [];
  readonly retires: Started<void, void>[] = [];
  readonly opens: Started<OpenInput, void>[] = [];
  readonly probes: Started<ProbeInput, ProbeOutcome>[] = [];
  readonly shutdowns: Deferred<void>[] = [];
  verifications = 0;
  tokenReads = 0;
  isChecking = false;
  /** What ended the actor, if it died. */
  error: unknown;
  readonly actor: ActorRefFrom<typeof connectionMachine>;

  /** `machine`: the mutation run has others. */
  constructor(input: Partial<ConnectionInput> = {}, machine = connectionMachine) {
    this.actor = createActor(runnable(machine), { input: { ...BUDGET, ...input }, clock: this.clock });
    bySystem.set(this.actor.system, this);
    // Unheard, an error of a machine would end the test's process.
    this.actor.subscribe({
      error: (error) => {
        this.error = error;
      },
    });
    this.actor.on('*', (event) => void this.emitted.push(event));
    this.actor.start();
  }

  /** `ready.steady`, `closed`, … */
  get state(): string {
    return stateName(this.actor.getSnapshot().value);
  }

  get context() {
    return this.actor.getSnapshot().context;
  }

  /** Everything that an ignored event must leave as it is: the snapshot, and what was ever started. */
  get trace() {
    const { value, context, status, children } = this.actor.getSnapshot();
    const { retires, opens, probes, shutdowns, verifications, tokenReads, emitted } = this;
    return JSON.stringify({
      value,
      context,
      status,
      children: Object.entries(children).map(([id, child]) => [id, child?.sessionId]),
      started: [retires.length, opens.length, probes.length, shutdowns.length, verifications, tokenReads],
      aborted: [...retires, ...opens, ...probes].map(({ signal }) => signal.aborted),
      timers: this.clock.runningMs,
      emitted,
    });
  }

  send(event: ConnectionEvent): this {
    // XState itself drops what is sent to an actor that is done, and warns about it.
    if (this.actor.getSnapshot().status === 'active') this.actor.send(event);
    return this;
  }

  /** What the generation before could clash with is gone. */
  async retired(): Promise<this> {
    latest(this.retires).resolve();
    await settled();
    return this;
  }

  async retireFailed(failure: OpenFailure): Promise<this> {
    latest(this.retires).reject(failure);
    await settled();
    return this;
  }

  /** Settles the latest dial. */
  async opened(): Promise<this> {
    latest(this.opens).resolve();
    await settled();
    return this;
  }

  async openFailed(failure: OpenFailure): Promise<this> {
    latest(this.opens).reject(failure);
    await settled();
    return this;
  }

  async probed(outcome: ProbeOutcome): Promise<this> {
    latest(this.probes).resolve(outcome);
    await settled();
    return this;
  }

  async probeFailed(): Promise<this> {
    latest(this.probes).reject(new Error('not sent'));
    await settled();
    return this;
  }

  async shutDown(how: 'resolve' | 'reject' = 'resolve'): Promise<this> {
    latest(this.shutdowns)[how](undefined as never);
    await settled();
    return this;
  }

  pass(ms: number): this {
    this.clock.increment(ms);
    return this;
  }

  /** A definitive loss of the current generation. */
  lose(): this {
    return this.send({ type: 'lost', generation: this.context.generation, cause: 'session-unknown' });
  }

  suspect(cause: Cause = 'deaf'): this {
    return this.send({ type: 'suspected', generation: this.context.generation, cause });
  }

  /** An operation of the host's was answered. */
  answer(): this {
    return this.send({ type: 'answered', generation: this.context.generation });
  }

  heard(): this {
    return this.send({ type: 'heard', generation: this.context.generation });
  }

  /** An operation wants the current generation, or the one to come. Default: one that was never sent. */
  demand(operation: Partial<DemandedOperation> = {}): this {
    const { generation } = this.context;
    const wanted = { kind: 'tool', policy: 'if-unsent', execution: 'unsent', ...operation } as const;
    return this.send({ type: 'demand', generation, operation: wanted });
  }
}

/** Making a machine runnable takes as long as many steps, so it is done once for each. */
const runnables = new WeakMap<typeof connectionMachine, typeof connectionMachine>();
const bySystem = new WeakMap<AnyActorRef['system'], ConnectionDriver>();

function driverOf(system: AnyActorRef['system']): ConnectionDriver {
  return bySystem.get(system)!;
}

function runnable(machine: typeof connectionMachine): typeof connectionMachine {
  const known = runnables.get(machine) ?? provided(machine);
  runnables.set(machine, known);
  return known;
}

function provided(machine: typeof connectionMachine): typeof connectionMachine {
  return machine.provide({
    actions: {
      readTokens: ({ system }) => {
        driverOf(system).tokenReads++;
      },
    },
    actors: {
      retire: fromPromise<void>(({ signal, system }) => start(driverOf(system).retires, undefined, signal)),
      open: fromPromise<void, OpenInput>(({ input, signal, system }) =>
        start(driverOf(system).opens, input, signal),
      ),
      probe: fromPromise<ProbeOutcome, ProbeInput>(({ input, signal, system }) =>
        start(driverOf(system).probes, input, signal),
      ),
      // It says nothing by itself: the test sends `verified` or `unverified`.
      verify: fromCallback<ConnectionEvent>(({ system }) => {
        const driver = driverOf(system);
        driver.verifications++;
        driver.isChecking = true;
        return () => {
          driver.isChecking = false;
        };
      }),
      shutdown: fromPromise<void>(({ system }) => {
        const next = deferred();
        driverOf(system).shutdowns.push(next);
        return next.promise;
      }),
    },
  });
}

function start<I, O>(started: Started<I, O>[], input: I, signal: AbortSignal): Promise<O> {
  const next = { ...deferred<O>(), input, signal, settled: false };
  const settle = () => {
    next.settled = true;
  };
  next.promise.then(settle, settle);
  started.push(next);
  return next.promise;
}

function latest<T>(list: T[]): T {
  const last = list.at(-1);
  if (last === undefined) throw new Error('that actor was never started');
  return last;
}

/** Until what a settled promise causes has happened: several microtasks, and no timer. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}
