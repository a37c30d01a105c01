/** The line of an owned connection: makes generations from a recipe, and ends them. */
import type { OpenFailure } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import type { OperationFailure } from './errors.ts';
import { classify } from './evidence/classify.ts';
import { type ErrorShape, shapeOf } from './evidence/error-shape.ts';
import type { ProcessEnd } from './evidence/failure.ts';
import { hintOf } from './evidence/hints.ts';
import { type Generation, OwnedGeneration } from './generation.ts';
import type { FailedDial, Line, LineHooks } from './line.ts';
import type { Connect, Settings } from './options.ts';
import { type ClientShape, type TransportShape, transportOf } from './transports/client-shape.ts';
import { type Identity, makeClient, makeTransport, type OwnedTransport } from './transports/recipe.ts';
import { Witness } from './transports/witness.ts';
import { MAX_DURATION_MS } from './validation.ts';
import { withinLimit } from './within-limit.ts';

export type Recipe = { readonly transport: OwnedTransport } | { readonly connect: Connect };

/** The server has said that it does not know these sessions: there is nothing to DELETE. */
const SESSION_IS_GONE: readonly Cause[] = ['session-unknown', 'session-rejected', 'session-error'];

/** Nothing is wrong with these: answer streams that were cut may still be resumed. */
const AT_THE_HOSTS_WISH: readonly Cause[] = ['requested', 'closed'];

/** Dialling again changes nothing until credentials, the command or the address change. */
const PERMANENT_STATUSES: readonly number[] = [400, 401, 403, 405, 406, 415];
const PERMANENT_CODES: readonly string[] = ['ENOENT', 'EACCES'];

export class OwnedLine implements Line {
  lastDial: FailedDial | undefined;
  readonly #recipe: Recipe;
  readonly #identity: Identity;
  readonly #timeouts: Settings['timeouts'];
  readonly #hooks: LineHooks;
  /** Generations that are being ended, off the path of any call. */
  readonly #ending = new Set<Promise<void>>();

  constructor(recipe: Recipe, identity: Identity, timeouts: Settings['timeouts'], hooks: LineHooks) {
    this.#recipe = recipe;
    this.#identity = identity;
    this.#timeouts = timeouts;
    this.#hooks = hooks;
  }

  async open(number: number, signal: AbortSignal): Promise<Generation> {
    const witness = new Witness({
      suspected: () => this.#hooks.suspected(number, 'deaf'),
      streamEnded: () => {
        this.#hooks.lost(number, 'stream-ended');
        witness.settleAll();
      },
    });
    const dial = new Dial(this.#recipe, this.#identity, number, witness);
    try {
      const generation = await dial.within(this.#timeouts.connectTimeoutMs, signal);
      this.#watch(generation, dial);
      this.lastDial = undefined;
      return generation;
    } catch (error) {
      const failure = openFailure(error, witness.retryAfterMs);
      this.lastDial = { error, evidence: dial.evidence(failure.cause) };
      this.#inBackground(dial.abandon(this.#timeouts.closeTimeoutMs));
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
    if (!AT_THE_HOSTS_WISH.includes(cause)) owned.sessionIsGone();
    this.#inBackground(owned.drain(drainTimeoutMs).then(() => owned.end(!gone, closeTimeoutMs)));
  }

  async finish(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending);
  }

  #watch(generation: OwnedGeneration, dial: Dial): void {
    const client = generation.client as unknown as ClientShape;
    const { onclose, onerror } = client;
    client.onclose = () => {
      onclose?.call(client);
      generation.closed = true;
      this.#hooks.lost(generation.number, 'connection-closed');
    };
    client.onerror = (error) => {
      onerror?.call(client, error);
      // Where we made the transport, the witness has seen the same, with the request that it concerns.
      const hint = dial.isWitnessed ? undefined : hintOf(error);
      if (hint === 'stream-ended') this.#hooks.lost(generation.number, hint);
      else if (hint !== undefined) this.#hooks.suspected(generation.number, 'deaf');
    };
    // It may have closed between its last handshake message and now.
    if (transportOf(client) === undefined) client.onclose();
  }

  #inBackground(work: Promise<void>): void {
    const task = work.catch(() => {}).finally(() => this.#ending.delete(task));
    this.#ending.add(task);
  }
}

/** One attempt. Whatever it has made by the time it is abandoned, or makes later, is closed. */
class Dial {
  readonly isWitnessed: boolean;
  readonly #recipe: Recipe;
  readonly #identity: Identity;
  readonly #number: number;
  readonly #witness: Witness;
  readonly #stop = new AbortController();
  #transport: TransportShape | undefined;
  #client: ClientShape | undefined;
  #done: Promise<OwnedGeneration> | undefined;

  constructor(recipe: Recipe, identity: Identity, number: number, witness: Witness) {
    this.#recipe = recipe;
    this.#identity = identity;
    this.#number = number;
    this.#witness = witness;
    this.isWitnessed = 'transport' in recipe;
  }

  async within(limitMs: number, signal: AbortSignal): Promise<OwnedGeneration> {
    signal.throwIfAborted();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort = () => {};
    const stopped = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      timer = setTimeout(() => {
        reject(new DOMException(`The handshake did not finish within ${limitMs} ms`, 'TimeoutError'));
      }, limitMs);
    });
    try {
      this.#done =
        'transport' in this.#recipe
          ? this.#handshake(this.#recipe.transport)
          : this.#ask(this.#recipe.connect);
      return await Promise.race([this.#done, stopped]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  evidence(cause: Cause): OperationFailure {
    const { processEnd } =
      this.#transport === undefined ? {} : (this.#transport as { processEnd?: ProcessEnd });
    const evidence = { connection: 'lost', execution: 'none', cause } as const;
    return processEnd === undefined ? evidence : { ...evidence, process: processEnd };
  }

  /** Resolves when nothing of this attempt is left. */
  async abandon(limitMs: number): Promise<void> {
    this.#stop.abort();
    await this.#endWhatIsThere(limitMs);
    // A handshake or a `connect` that finishes too late is ended too, however late that is.
    const late = this.#done?.catch(() => {}).then(() => this.#endWhatIsThere(limitMs));
    await withinLimit(() => late, limitMs);
  }

  async #endWhatIsThere(limitMs: number): Promise<void> {
    const client = this.#client ?? { close: async () => {} };
    await new OwnedGeneration(this.#number, client as ClientShape, this.#transport, this.#witness).end(
      true,
      limitMs,
    );
  }

  async #handshake(description: OwnedTransport): Promise<OwnedGeneration> {
    const client = await makeClient(this.#identity);
    const transport = await makeTransport(description, this.#witness);
    this.#stop.signal.throwIfAborted();
    this.#transport = transport as TransportShape;
    this.#client = client as unknown as ClientShape;
    this.#witness.watch(this.#transport, description.kind !== 'stdio');
    // The SDK's own timer would send a cancellation, which `initialize` forbids; the limit around this is ours.
    await client.connect(transport, { timeout: MAX_DURATION_MS });
    return new OwnedGeneration(this.#number, this.#client, this.#transport, this.#witness);
  }

  async #ask(connect: Connect): Promise<OwnedGeneration> {
    const client = await connect({
      signal: this.#stop.signal,
      generation: this.#number,
      fetch: this.#witness.watchFetch(globalThis.fetch, 'http'),
    });
    const transport = isClient(client) ? transportOf(client) : undefined;
    if (transport === undefined) {
      throw new TypeError('connect() must return a connected MCP client: what it returned has no transport');
    }
    this.#client = client;
    this.#transport = transport;
    this.#witness.watch(transport, transport.terminateSession !== undefined);
    return new OwnedGeneration(this.#number, client, transport, this.#witness);
  }
}

function isClient(value: unknown): value is ClientShape {
  return typeof (value as ClientShape | undefined)?.request === 'function';
}

function openFailure(error: unknown, retryAfterMs: number): OpenFailure {
  const shape = shapeOf(error);
  const { cause } = classify({
    error: shape,
    session: 'none',
    aborted: false,
    overdue: false,
    transportClosed: true,
    earlierLegMayHaveRun: false,
    witnessed: undefined,
    trust404: true,
  });
  return { cause, permanent: isPermanent(shape, cause), retryAfterMs };
}

function isPermanent(error: ErrorShape, cause: Cause): boolean {
  if (cause === 'unauthorized') return true;
  if (error.status !== undefined) return PERMANENT_STATUSES.includes(error.status);
  return error.systemCodes.some(({ code }) => PERMANENT_CODES.includes(code));
}
