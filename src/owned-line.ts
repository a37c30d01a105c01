/** The line of an owned connection: makes generations from a recipe, and ends them. */
import type { OpenFailure } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import type { SignIn } from './authorization/sign-in.ts';
import { Dial, type Recipe } from './dial.ts';
import { type DialFailure, dialFailure } from './dial-failure.ts';
import { hintOf } from './evidence/hints.ts';
import type { Generation } from './generation.ts';
import type { FailedDial, Line, LineHooks } from './line.ts';
import type { Settings } from './options.ts';
import type { OwnedGeneration } from './owned-generation.ts';
import { neverAnsweredPings, type PingHabits } from './probe.ts';
import { quietly } from './quietly.ts';
import {
  canEndSession,
  type Ending,
  endProcess,
  type Hold,
  makeWay,
  type RetirementParts,
  retire,
  retireUnused,
  sessionMayLive,
} from './retirement.ts';
import { type ClientShape, type ListeningClient, transportOf } from './transports/client-shape.ts';
import type { Identity } from './transports/recipe.ts';
import { type ServerHabits, WireMonitor } from './transports/wire-monitor.ts';
import { withinLimit } from './within-limit.ts';

/** Retired generations that wait for calls of theirs, at most. */
const MOST_HELD = 4;

/** Which line has used a client last. One map for all lines takes less than a set for each. */
const usedBy = new WeakMap<object, OwnedLine>();

type LineSettings = Pick<Settings, 'timeouts' | 'liveness' | 'recovery'>;

export class OwnedLine implements Line {
  lastDial: FailedDial | undefined;
  readonly #recipe: Recipe;
  readonly #identity: Identity;
  readonly #settings: LineSettings;
  readonly #signIn: SignIn | undefined;
  readonly #hooks: LineHooks;
  readonly #habits: ServerHabits = { answersOnListenStream: false, offersListenStream: false };
  #lingering: Set<() => void> | undefined;
  /** The oldest first. */
  #held: Set<() => void> | undefined;
  #finishing = false;
  /** Dials that are under way, and endings that no call waits for. */
  #background: Set<Promise<unknown>> | undefined;
  /** Retired generations, and what the next one waits for; undefined where that could not be reached. */
  #clearing: Map<RetirementParts, Promise<unknown> | undefined> | undefined;
  /** Retired since the last `ready`, what failed dials had made included; and who waits for the next one. */
  #retired: Map<RetirementParts, () => void> | undefined;
  /** A dial since the last `ready` may have begun a session whose id did not reach us. */
  #mayHaveLostSession = false;
  /** Of the last generation that was ready: why it was retired, and its habits. The generation itself is let go. */
  #before: { readonly cause: Cause; readonly pings: PingHabits } | undefined;

  constructor(
    recipe: Recipe,
    identity: Identity,
    settings: LineSettings,
    signIn: SignIn | undefined,
    hooks: LineHooks,
  ) {
    this.#signIn = signIn;
    this.#recipe = recipe;
    this.#identity = identity;
    this.#settings = settings;
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
    this.#before = { cause, pings: generation.pings };
    this.#end(generation as OwnedGeneration, cause, retire);
  }

  async retired(): Promise<void> {
    const remaining = this.#clearing ?? new Map();
    for (const [parts, cleared] of remaining) {
      const clearing = cleared ?? endProcess(parts);
      this.#inBackground(clearing);
      try {
        await clearing;
        remaining.delete(parts);
      } catch (error) {
        remaining.set(parts, undefined);
        throw this.#noteFailure({ error, cause: 'not-ended', permanent: false, retryAfterMs: 0 });
      }
    }
  }

  async finish(): Promise<void> {
    this.#finishing = true;
    this.#supersede();
    for (const go of this.#lingering ?? []) go();
    for (const letGo of this.#held ?? []) letGo();
    while (this.#background !== undefined) await Promise.all(this.#background);
  }

  async #open(number: number, signal: AbortSignal): Promise<Generation> {
    // What an earlier dial has left: the machine asks only about generations that were ready.
    await this.retired();
    let opened = await this.#dial(number, signal);
    const living = [...(this.#retired?.keys() ?? [])].filter(canEndSession);
    if ('error' in opened && opened.refusesSecondSession && living.length > 0 && !signal.aborted) {
      await Promise.all(living.map(({ generation }) => makeWay(generation)));
      opened = await this.#dial(number, signal);
    }
    if ('error' in opened) {
      this.#mayHaveLostSession ||= opened.mayHaveBegun === true;
      const mayClash = this.#mayHaveLostSession || [...(this.#retired?.keys() ?? [])].some(sessionMayLive);
      const failure = { ...opened, permanent: opened.permanent && !(opened.isRefusal && mayClash) };
      throw signal.aborted ? failure : this.#noteFailure(failure);
    }
    opened.bornOfGatewayErrors = this.#before?.cause === 'gateway-error';
    opened.pings.ignored = this.#before !== undefined && neverAnsweredPings(this.#before.pings);
    this.#mayHaveLostSession = false;
    this.#supersede();
    this.lastDial = undefined;
    return opened;
  }

  #end(generation: OwnedGeneration, cause: Cause, how: (parts: RetirementParts) => Ending): Promise<unknown> {
    const parts: RetirementParts = {
      generation,
      cause,
      isDescribed: 'transport' in this.#recipe,
      hadSession: generation.session === 'carried' || generation.monitor.legacyStreamBegan,
      timeouts: this.#settings.timeouts,
      linger: (ms) => this.#linger(ms),
      hold: () => this.#hold(),
      superseded: () => this.#superseded(parts),
    };
    this.#retired ??= new Map();
    this.#retired.set(parts, () => {});
    const { cleared, ended } = how(parts);
    this.#clearing ??= new Map();
    this.#clearing.set(parts, cleared);
    // What had no session leaves none behind.
    this.#inBackground(ended.finally(() => parts.hadSession || this.#retired?.delete(parts)));
    this.#inBackground(cleared);
    return cleared;
  }

  #hold(): Hold {
    let release = () => {};
    const over = new Promise<void>((resolve) => {
      release = () => {
        this.#held?.delete(release);
        resolve();
      };
    });
    if (this.#finishing) release();
    else {
      this.#held ??= new Set();
      this.#held.add(release);
      const [oldest] = this.#held;
      if (this.#held.size > MOST_HELD) oldest?.();
    }
    return { over, release };
  }

  async #superseded(parts: RetirementParts): Promise<void> {
    if (this.#finishing || !this.#retired?.has(parts)) return;
    await new Promise<void>((resolve) => this.#retired?.set(parts, resolve));
  }

  #supersede(): void {
    for (const go of this.#retired?.values() ?? []) go();
    this.#retired = undefined;
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
        listenStreamLost: (loss) => this.#hooks.listenStreamLost(number, loss),
        legFailed: (exchange, error, again) =>
          generation === undefined
            ? Promise.reject(error)
            : this.#hooks.legFailed(generation, { exchange, error, again }),
      },
      this.#habits,
      this.#settings.recovery,
    );
    const dial = new Dial(this.#recipe, this.#identity, number, monitor, this.#settings, this.#signIn);
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
      const endUnused = async (made: OwnedGeneration | undefined) => {
        if (made !== undefined) await this.#end(made, failure.cause, retireUnused);
      };
      const ended = endUnused(dial.abandon());
      const endedLate = dial.madeLate().then(endUnused);
      const late = withinLimit(() => endedLate, this.#settings.timeouts.closeTimeoutMs);
      this.#inBackground(late);
      await ended.catch(() => {});
      // A `connect` that was told to stop may still be closing what it has made.
      if (!dial.isDescribed) await late;
      return failure;
    }
  }

  #noteFailure({ error, cause, permanent, retryAfterMs, process, redirectTarget }: DialFailure): OpenFailure {
    const known = { connection: 'lost', execution: 'none', cause } as const;
    const evidence = process === undefined ? known : { ...known, process };
    this.lastDial = { error, evidence, permanent, retryAfterMs, at: Date.now(), redirectTarget };
    return { cause, permanent, retryAfterMs };
  }

  /** Returns at once when the connection is being closed: then no call is to be spared. */
  async #linger(ms: number): Promise<void> {
    if (this.#finishing) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#lingering?.delete(go);
        resolve();
      };
      const timer = setTimeout(go, ms);
      this.#lingering ??= new Set();
      this.#lingering.add(go);
    });
  }

  #watch(generation: OwnedGeneration, isDescribed: boolean): void {
    const client = generation.client as unknown as ClientShape;
    this.#keepListening(generation, isDescribed);
    const { onclose, onerror } = client;
    client.onclose = () => {
      quietly(() => onclose?.call(client));
      generation.noteClosed();
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

  /** Of what a client has opened within `connect` its monitor has not seen the beginning. */
  #keepListening({ client, monitor }: OwnedGeneration, isDescribed: boolean): void {
    const { listen, autoOpenedSubscription: opened } = client as unknown as ListeningClient;
    if (listen === undefined) return;
    monitor.listen = (filter) => listen.call(client, filter);
    if (isDescribed) return;
    opened?.closed.then(
      (by) => {
        if (by !== 'local') monitor.lostUnseen(opened.honoredFilter);
      },
      () => {},
    );
  }

  /** Noted on the generation too: the machine may not have heard of it yet. */
  #lose(generation: OwnedGeneration, cause: Cause): void {
    generation.gone ??= cause;
    this.#hooks.lost(generation.number, cause);
    if (cause === 'stream-ended') generation.monitor.settleAll();
  }

  /** The old generation's client is closed, so it cannot be the new one's. */
  #refuseUsed(client: object): void {
    if (usedBy.get(client) === this) throw new TypeError('connect() must return a new client each time');
    usedBy.set(client, this);
  }

  #inBackground(work: Promise<unknown>): void {
    this.#background ??= new Set();
    const background = this.#background;
    const task = work
      .catch(() => {})
      .finally(() => {
        background.delete(task);
        if (background.size === 0) this.#background = undefined;
      });
    background.add(task);
  }
}
