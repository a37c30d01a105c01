/** The line of an owned connection: makes generations from a recipe, and ends them. */
import type { OpenFailure } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import { Dial, type Recipe } from './dial.ts';
import { classify } from './evidence/classify.ts';
import { type ErrorShape, shapeOf } from './evidence/error-shape.ts';
import { NO_CALL } from './evidence/failure.ts';
import { hintOf } from './evidence/hints.ts';
import type { Generation } from './generation.ts';
import type { FailedDial, Line, LineHooks } from './line.ts';
import type { Settings } from './options.ts';
import type { OwnedGeneration } from './owned-generation.ts';
import { quietly } from './quietly.ts';
import { settledByMonitor } from './transports/answer-lost.ts';
import { type ClientShape, transportOf } from './transports/client-shape.ts';
import type { Identity } from './transports/recipe.ts';
import { type ServerHabits, WireMonitor } from './transports/wire-monitor.ts';

/** The server has said that it does not know these sessions: there is nothing to DELETE. */
const SESSION_IS_GONE: readonly Cause[] = ['session-unknown', 'session-rejected', 'session-error'];

/** Nothing is wrong with these: answer streams that were cut may still be resumed. */
const AT_THE_HOSTS_WISH: readonly Cause[] = ['requested', 'closed'];

/**
 * Closing a client aborts the signal of every exchange that it ever had. That takes as long as a few calls, so it
 * waits until the calls that were stricken have gone on.
 */
const LINGER_MS = 250;

/** Dialling again changes nothing until credentials, the command or the address change. */
const PERMANENT_STATUSES: readonly number[] = [400, 401, 403, 405, 406, 415];
const PERMANENT_CODES: readonly string[] = ['ENOENT', 'EACCES'];

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
  readonly #ending = new Set<Promise<unknown>>();

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

  async #open(number: number, signal: AbortSignal): Promise<Generation> {
    let generation: OwnedGeneration | undefined;
    let streamEnded = false;
    const monitor = new WireMonitor(
      {
        suspected: () => this.#hooks.suspected(number, 'deaf'),
        streamEnded: () => {
          streamEnded = true;
          if (generation !== undefined) this.#lose(generation, 'stream-ended');
        },
        heard: () => {},
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
      this.#watch(generation, dial.isMonitored);
      this.lastDial = undefined;
      return generation;
    } catch (error) {
      const failure = openFailure(error, dial.closed, monitor.retryAfterMs);
      if (!signal.aborted) this.lastDial = { error, evidence: dial.evidence(failure.cause) };
      this.#inBackground(dial.abandon());
      throw failure;
    }
  }

  check(): never {
    throw new Error('An owned connection has nothing supplied to check');
  }

  retire(generation: Generation, cause: Cause): void {
    const owned = generation as OwnedGeneration;
    const { drainTimeoutMs, closeTimeoutMs } = this.#timeouts;
    const gone = SESSION_IS_GONE.includes(cause);
    owned.retire(AT_THE_HOSTS_WISH.includes(cause) ? 'draining' : 'gone');
    this.#inBackground(
      owned
        .drain(drainTimeoutMs)
        .then(() => (owned.closed ? undefined : this.#linger()))
        .then(() => owned.end(!gone, closeTimeoutMs)),
    );
  }

  async finish(): Promise<void> {
    this.#finishing = true;
    for (const go of this.#lingering) go();
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  /** Not once the connection is being closed: then there is nobody to be in the way of. */
  async #linger(): Promise<void> {
    if (this.#finishing) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#lingering.delete(go);
        resolve();
      };
      const timer = setTimeout(go, LINGER_MS);
      this.#lingering.add(go);
    });
  }

  #watch(generation: OwnedGeneration, isMonitored: boolean): void {
    const client = generation.client as unknown as ClientShape;
    const { onclose, onerror } = client;
    client.onclose = () => {
      quietly(() => onclose?.call(client));
      generation.closed = true;
      this.#lose(generation, 'connection-closed');
    };
    client.onerror = (error) => {
      quietly(() => onerror?.call(client, error));
      // Where we made the transport, the monitor has seen the same, with the request that it concerns.
      const hint = isMonitored ? undefined : hintOf(error);
      if (hint === 'stream-ended') this.#lose(generation, hint);
      else if (hint !== undefined) this.#hooks.suspected(generation.number, 'deaf');
    };
  }

  /** Noted on the generation too: the machine may not have heard of it yet. */
  #lose(generation: OwnedGeneration, cause: Cause): void {
    generation.gone ??= cause;
    this.#hooks.lost(generation.number, cause);
    if (cause === 'stream-ended') generation.answersAreLost();
  }

  /** The old generation's client is closed after the new one has been made. */
  #refuseUsed(client: object): void {
    if (this.#used.has(client)) throw new TypeError('connect() must return a new client each time');
    this.#used.add(client);
  }

  #inBackground(work: Promise<unknown>): void {
    const task = work.catch(() => {}).finally(() => this.#ending.delete(task));
    this.#ending.add(task);
  }
}

function openFailure(error: unknown, transportClosed: boolean, retryAfterMs: number): OpenFailure {
  const shape = shapeOf(error);
  const { cause } = classify({
    ...NO_CALL,
    observed: settledByMonitor(error),
    error: shape,
    session: 'none',
    transportClosed,
    trust404: true,
  });
  return { cause, permanent: isPermanent(shape, cause), retryAfterMs };
}

function isPermanent(error: ErrorShape, cause: Cause): boolean {
  if (cause === 'unauthorized') return true;
  // The server forgot the session in the middle of its handshake: the next one is a new session.
  if (cause === 'session-rejected') return false;
  if (error.status !== undefined) return PERMANENT_STATUSES.includes(error.status);
  return error.systemCodes.some(({ code }) => PERMANENT_CODES.includes(code));
}
