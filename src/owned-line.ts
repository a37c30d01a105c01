/** The line of an owned connection: makes generations from a recipe, and ends them. */
import type { OpenFailure } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import { Dial, type Recipe } from './dial.ts';
import { type DialFailure, dialFailure } from './dial-failure.ts';
import { hintOf } from './evidence/hints.ts';
import type { Generation } from './generation.ts';
import type { FailedDial, Line, LineHooks } from './line.ts';
import type { Settings } from './options.ts';
import type { OwnedGeneration } from './owned-generation.ts';
import { neverAnsweredPings } from './probe.ts';
import { quietly } from './quietly.ts';
import {
  DELETE_LIMIT_MS,
  endProcess,
  endSession,
  mayHaveSession,
  type RetirementParts,
  retire,
} from './retirement.ts';
import { type ClientShape, transportOf } from './transports/client-shape.ts';
import type { Identity } from './transports/recipe.ts';
import { type ServerHabits, WireMonitor } from './transports/wire-monitor.ts';

export class OwnedLine implements Line {
  lastDial: FailedDial | undefined;
  readonly #recipe: Recipe;
  readonly #identity: Identity;
  readonly #timeouts: Settings['timeouts'];
  readonly #hooks: LineHooks;
  readonly #habits: ServerHabits = { answersOnListenStream: false };
  readonly #used = new WeakSet<object>();
  readonly #lingering = new Set<() => void>();
  #finishing = false;
  /** What is being opened, and what is being ended off the path of any call. */
  readonly #background = new Set<Promise<unknown>>();
  /** Retired generations, and what the next one waits for. */
  readonly #clearing = new Map<RetirementParts, Promise<void>>();
  /** Retired since the last `ready`. */
  #retired: RetirementParts[] = [];

  constructor(recipe: Recipe, identity: Identity, timeouts: Settings['timeouts'], hooks: LineHooks) {
    this.#recipe = recipe;
    this.#identity = identity;
    this.#timeouts = timeouts;
    this.#hooks = hooks;
  }

  open(number: number, signal: AbortSignal): Promise<Generation> {
    const opening = this.#open(number, signal);
    // So that `finish` waits for an aborted dial until what it had made is ended.
    this.#inBackground(opening);
    return opening;
  }

  check(): never {
    throw new Error('An owned connection has nothing supplied to check');
  }

  retire(generation: Generation, cause: Cause): void {
    const parts: RetirementParts = {
      generation: generation as OwnedGeneration,
      cause,
      isDescribed: 'transport' in this.#recipe,
      timeouts: this.#timeouts,
      linger: (ms) => this.#linger(ms),
    };
    const { cleared, ended } = retire(parts);
    this.#retired.push(parts);
    this.#clearing.set(parts, cleared);
    this.#inBackground(ended);
    this.#inBackground(cleared);
  }

  async retired(): Promise<void> {
    for (const [parts, cleared] of this.#clearing) {
      try {
        await cleared;
        this.#clearing.delete(parts);
      } catch (error) {
        const again = endProcess(parts);
        this.#clearing.set(parts, again);
        this.#inBackground(again);
        throw this.#noteFailure({ error, cause: 'not-ended', permanent: false, retryAfterMs: 0 });
      }
    }
  }

  async finish(): Promise<void> {
    this.#finishing = true;
    for (const go of this.#lingering) go();
    while (this.#background.size > 0) await Promise.all(this.#background);
  }

  async #open(number: number, signal: AbortSignal): Promise<Generation> {
    let opened = await this.#dial(number, signal);
    const living = this.#retired.filter(mayHaveSession);
    if ('error' in opened && opened.refusesSecondSession && living.length > 0 && !signal.aborted) {
      await Promise.all(living.map(({ generation }) => endSession(generation, DELETE_LIMIT_MS)));
      opened = await this.#dial(number, signal);
    }
    if ('error' in opened) {
      const mayClash = this.#retired.some(mayHaveSession) && opened.cause !== 'unauthorized';
      const failure = { ...opened, permanent: opened.permanent && !mayClash };
      throw signal.aborted ? failure : this.#noteFailure(failure);
    }
    const before = this.#retired.at(-1);
    opened.bornOfGatewayErrors = before?.cause === 'gateway-error';
    opened.pings.ignored = before !== undefined && neverAnsweredPings(before.generation.pings);
    this.#retired = [];
    this.lastDial = undefined;
    return opened;
  }

  /** Leaves nothing behind when it fails. */
  async #dial(number: number, signal: AbortSignal): Promise<OwnedGeneration | DialFailure> {
    let generation: OwnedGeneration | undefined;
    let streamEnded = false;
    const monitor = new WireMonitor(
      {
        suspected: () => this.#hooks.suspected(number, 'deaf'),
        streamEnded: () => {
          streamEnded = true;
          if (generation !== undefined) this.#lose(generation, 'stream-ended');
        },
        heard: () => this.#hooks.heard(number),
      },
      this.#habits,
    );
    const dial = new Dial(this.#recipe, this.#identity, number, monitor, this.#timeouts);
    try {
      generation = await dial.run(signal);
      this.#refuseUsed(generation.client);
      if (streamEnded || transportOf(generation.client as never) === undefined) {
        throw new Error('The connection closed as its handshake finished');
      }
      this.#watch(generation, dial.isDescribed);
      return generation;
    } catch (error) {
      const failure = dialFailure(error, dial, monitor);
      await dial.abandon();
      this.#inBackground(dial.endLate());
      return failure;
    }
  }

  #noteFailure({ error, cause, permanent, retryAfterMs, process, redirectTarget }: DialFailure): OpenFailure {
    const known = { connection: 'lost', execution: 'none', cause } as const;
    const evidence = process === undefined ? known : { ...known, process };
    this.lastDial = { error, evidence, permanent, retryAfterMs, redirectTarget };
    return { cause, permanent, retryAfterMs };
  }

  /** Not once the connection is being closed: then there is nobody to be in the way of. */
  async #linger(ms: number): Promise<void> {
    if (this.#finishing) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#lingering.delete(go);
        resolve();
      };
      const timer = setTimeout(go, ms);
      this.#lingering.add(go);
    });
  }

  #watch(generation: OwnedGeneration, isDescribed: boolean): void {
    const client = generation.client as unknown as ClientShape;
    const { onclose, onerror } = client;
    client.onclose = () => {
      quietly(() => onclose?.call(client));
      generation.closed = true;
      this.#lose(generation, 'connection-closed');
    };
    client.onerror = (error) => {
      quietly(() => onerror?.call(client, error));
      // Where we made the transport, its monitor has seen the same, with the request that it concerns.
      const hint = isDescribed ? undefined : hintOf(error);
      if (hint === 'stream-ended') this.#lose(generation, hint);
      else if (hint !== undefined) this.#hooks.suspected(generation.number, 'deaf');
    };
  }

  /** Noted on the generation too: the machine may not have heard of it yet. */
  #lose(generation: OwnedGeneration, cause: Cause): void {
    generation.gone ??= cause;
    this.#hooks.lost(generation.number, cause);
    if (cause === 'stream-ended') generation.monitor.settleAll();
  }

  /** The old generation's client is closed, so it cannot be the new one's. */
  #refuseUsed(client: object): void {
    if (this.#used.has(client)) throw new TypeError('connect() must return a new client each time');
    this.#used.add(client);
  }

  #inBackground(work: Promise<unknown>): void {
    const task = work.catch(() => {}).finally(() => this.#background.delete(task));
    this.#background.add(task);
  }
}
