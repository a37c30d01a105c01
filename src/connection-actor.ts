/** The connection machine at work: its real actors, and what can be asked of it. One provided machine serves all. */
import { type ActorRefFrom, type AnyActorRef, createActor, fromCallback, fromPromise } from 'xstate';
import {
  backoffMs,
  type ConnectionEmitted,
  type ConnectionEvent,
  type ConnectionInput,
  type ConnectionState,
  connectionMachine,
  coolDownMs,
  delayMs,
  isUnwanted,
  type OpenInput,
  type ProbeFinding,
  type ProbeInput,
  type ProbeOutcome,
} from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import { backgroundClock, type Clock } from './clock.ts';
import { firstDelayShare } from './first-dials.ts';
import type { Inspection } from './inspection.ts';

const LEFT_BY_DEMAND: readonly ConnectionState[] = ['idle', 'lost', 'exhausted'];

/** What the machine's actors do, for one connection. */
export interface ConnectionEdge {
  /** Resolves when what the generation before could clash with is gone. */
  retire(): Promise<void>;
  open(input: OpenInput, signal: AbortSignal): Promise<void>;
  /** Is what the caller supplied connected? */
  verify(): boolean;
  probe(input: ProbeInput, signal: AbortSignal): Promise<ProbeOutcome>;
  shutdown(): Promise<void>;
  /** Tells `authorized` if the host has other tokens than those that were refused. */
  readTokens(): void;
}

/** Each root actor has a system of its own, which names its connection and keeps it alive no longer than itself. */
const bySystem = new WeakMap<AnyActorRef['system'], ConnectionEdge>();

function edgeOf(system: AnyActorRef['system']): ConnectionEdge {
  const edge = bySystem.get(system);
  if (edge === undefined) throw new Error('A connection actor without its connection');
  return edge;
}

export const runnableConnectionMachine = connectionMachine.provide({
  actors: {
    retire: fromPromise<void>(({ system }) => edgeOf(system).retire()),
    open: fromPromise<void, OpenInput>(({ input, signal, system }) => edgeOf(system).open(input, signal)),
    verify: fromCallback<ConnectionEvent>(({ sendBack, system }) => {
      sendBack({ type: edgeOf(system).verify() ? 'verified' : 'unverified' });
    }),
    probe: fromPromise<ProbeOutcome, ProbeInput>(({ input, signal, system }) =>
      edgeOf(system).probe(input, signal),
    ),
    shutdown: fromPromise<void>(({ system }) => edgeOf(system).shutdown()),
  },
  actions: { readTokens: ({ system }) => edgeOf(system).readTokens() },
  delays: {
    backoff: ({ context, system }) =>
      backoffMs(context, context.attempts === 0 ? firstDelayShare(system) : Math.random()),
    coolDown: ({ context }) => coolDownMs(context, Math.random()),
    nextAttempt: ({ context }) => delayMs(context.settings, context.misses, Math.random()),
  },
});

/** What a connection hears of its machine, in order, each after it is so. */
export interface ConnectionListener {
  entered(state: ConnectionState, from: ConnectionState, cause: Cause | undefined): void;
  lost(generation: number, cause: Cause): void;
  opened(generation: number): void;
  /** Another dial will follow. */
  dialFailed(serverIsMissing: boolean): void;
  probeBegins(): void;
  /** Or a message has come in between two probes: the connection is not lost. */
  probeEnded(found: ProbeFinding): void;
}

/** What a wait for the connection can end with: it goes on, but there is nothing to wait for. */
export type Outcome = ConnectionState | 'server-missing';

interface Waiter {
  readonly outcomes: readonly Outcome[];
  resolve(outcome: Outcome): void;
}

export class ConnectionActor {
  /** As the machine announces it, which is also right for those who are told in the middle of a step. */
  state: ConnectionState = 'idle';
  /** When it entered this state, in milliseconds since the epoch. */
  since = Date.now();
  /** A probe of the current generation is under way. */
  probing = false;
  /** No server is there, and the connection stays as it is until one answers. */
  unreachable = false;
  /** Since when it has been suspect, in milliseconds since the epoch. A heartbeat that is answered is no suspicion. */
  suspectSince: number | undefined;
  readonly #actor: ActorRefFrom<typeof runnableConnectionMachine>;
  readonly #listener: ConnectionListener;
  readonly #inspection: Inspection;
  #waiting: readonly Waiter[] = [];

  constructor(
    name: string,
    input: ConnectionInput,
    clock: Clock | undefined,
    inspection: Inspection,
    edge: ConnectionEdge,
    listener: ConnectionListener,
  ) {
    this.#listener = listener;
    this.#inspection = inspection;
    this.#actor = createActor(runnableConnectionMachine, {
      id: name,
      clock: (clock ?? backgroundClock) as never,
      input,
      ...inspection.actorOptions(name),
    });
    inspection.began(this.#actor, name);
    bySystem.set(this.#actor.system, edge);
    this.#actor.on('*', (event) => this.#hear(event));
    // Unheard, an error of the machine would end the host's process.
    this.#actor.subscribe({ error: () => this.#enter('closed', undefined) });
  }

  /** Apart from the constructor: what is started may ask for its connection at once. */
  start(): void {
    this.#actor.start();
  }

  /** Why the connection is not ready. */
  get cause(): Cause | undefined {
    return this.#actor.getSnapshot().context.cause ?? undefined;
  }

  /** Why operations wait for it: the last failure, or that the generation before has not ended. */
  get delayedBy(): Cause | undefined {
    if (this.unreachable) return 'unreachable';
    const isRetiring = this.#actor.getSnapshot().matches({ recreating: 'retiring' });
    return isRetiring ? 'not-ended' : this.cause;
  }

  get isClosed(): boolean {
    return this.state === 'closing' || this.state === 'closed';
  }

  /** A late report, when all is over, concerns nobody. */
  tell(event: ConnectionEvent): void {
    if (this.state !== 'closed') this.#actor.send(event);
  }

  /** Resolves with the first of these that comes from now on. */
  next(...outcomes: readonly Outcome[]): Promise<Outcome> {
    return new Promise((resolve) => {
      this.#waiting = this.#waiting.concat({ outcomes, resolve });
    });
  }

  /** A demand can change something. A herd of others need not reach the machine. */
  get heedsDemands(): boolean {
    if (this.state === 'recreating') return isUnwanted(this.#actor.getSnapshot().context);
    return LEFT_BY_DEMAND.includes(this.state);
  }

  /** An operation that is answered gives something back. */
  get owesAnAnswer(): boolean {
    return this.#actor.getSnapshot().context.attempts > 0;
  }

  #hear(event: ConnectionEmitted): void {
    switch (event.type) {
      case 'entered':
        this.#enter(event.state, event.cause ?? undefined);
        break;
      case 'lost':
        this.#listener.lost(event.generation, event.cause);
        break;
      case 'opened':
        this.#listener.opened(event.generation);
        break;
      case 'dial-failed':
        this.#listener.dialFailed(event.serverIsMissing);
        if (event.serverIsMissing) this.#settle(this.#waitingFor('server-missing'), 'server-missing');
        break;
      case 'suspected':
        this.probing = true;
        if (event.cause !== 'heartbeat') this.suspectSince ??= Date.now();
        this.#listener.probeBegins();
        break;
      case 'probed':
        this.#probeEnded(event.found);
        break;
      case 'cleared':
        this.#probeEnded('usable');
        break;
    }
  }

  #probeEnded(found: ProbeFinding): void {
    this.probing = false;
    this.unreachable = found === 'unreachable';
    if (found === 'usable') this.suspectSince = undefined;
    else this.suspectSince ??= Date.now();
    this.#listener.probeEnded(found);
  }

  #enter(state: ConnectionState, cause: Cause | undefined): void {
    const from = this.state;
    // Those who begin to wait in a listener below wait for what comes after this.
    const waiting = this.#waitingFor(state);
    this.state = state;
    this.since = Date.now();
    this.probing = false;
    this.unreachable = false;
    this.suspectSince = undefined;
    if (state === 'closed') this.#inspection.ended(this.#actor);
    if (from !== state) this.#listener.entered(state, from, cause);
    this.#settle(waiting, state);
  }

  #waitingFor(outcome: Outcome): Waiter[] {
    return this.#waiting.filter(({ outcomes }) => outcomes.includes(outcome));
  }

  #settle(waiting: readonly Waiter[], outcome: Outcome): void {
    for (const waiter of waiting) {
      this.#waiting = this.#waiting.filter((each) => each !== waiter);
      waiter.resolve(outcome);
    }
  }
}
