/** One attempt to make a generation from a recipe. */
import type { SignIn } from './authorization/sign-in.ts';
import { MAX_DURATION_MS } from './durations.ts';
import type { ProcessEnd } from './evidence/failure.ts';
import { awaitFirstWord, showsAnAnswer } from './first-word.ts';
import type { Connect, Settings } from './options.ts';
import { OwnedGeneration } from './owned-generation.ts';
import {
  type ClientShape,
  isOverHttp,
  isVersion2,
  type TransportShape,
  transportOf,
} from './transports/client-shape.ts';
import { negotiationFailed, negotiationFor } from './transports/negotiation.ts';
import { type Identity, makeClient, makeTransport, type OwnedTransport } from './transports/recipe.ts';
import { evictLists } from './transports/response-cache.ts';
import type { WireMonitor } from './transports/wire-monitor.ts';

export type Recipe = { readonly transport: OwnedTransport } | { readonly connect: Connect };

export class Dial {
  readonly isDescribed: boolean;
  readonly #recipe: Recipe;
  readonly #identity: Identity;
  readonly #number: number;
  readonly #monitor: WireMonitor;
  readonly #settings: Pick<Settings, 'timeouts' | 'liveness'>;
  readonly #signIn: SignIn | undefined;
  readonly #stop = new AbortController();
  #made: OwnedGeneration | undefined;
  #done: Promise<OwnedGeneration> | undefined;
  #letClose = () => {};
  readonly #seen = { closed: false };

  constructor(
    recipe: Recipe,
    identity: Identity,
    number: number,
    monitor: WireMonitor,
    settings: Pick<Settings, 'timeouts' | 'liveness'>,
    signIn: SignIn | undefined,
  ) {
    this.#settings = settings;
    this.#signIn = signIn;
    this.#recipe = recipe;
    this.#identity = identity;
    this.#number = number;
    this.#monitor = monitor;
    this.isDescribed = 'transport' in recipe;
  }

  /** Rejects when it failed, took too long or was aborted; then it has to be abandoned. */
  async run(signal: AbortSignal): Promise<OwnedGeneration> {
    signal.throwIfAborted();
    const limitMs = this.#settings.timeouts.connectTimeoutMs;
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

  /** The transport has closed by itself. Of a client that `connect` makes it is not known, and taken as so. */
  get closed(): boolean {
    return this.#seen.closed || !this.isDescribed;
  }

  get processEnd(): ProcessEnd | undefined {
    return this.#made?.processEnd;
  }

  /** Returns what it has made so far, which is to be ended. */
  abandon(): OwnedGeneration | undefined {
    this.#stop.abort();
    this.#letClose();
    return this.#made;
  }

  /** What a handshake or a `connect` has made that finished after it was abandoned, however late that is. */
  async madeLate(): Promise<OwnedGeneration | undefined> {
    const before = this.#made;
    await this.#done?.catch(() => {});
    return this.#made === before ? undefined : this.#made;
  }

  /** A handshake that fails makes the SDK close its transport at once, and a session could not be ended any more. */
  #holdOpen(transport: TransportShape): void {
    const { close } = transport;
    transport.close = async () => {};
    this.#letClose = () => {
      transport.close = close;
    };
  }

  async #handshake(description: OwnedTransport): Promise<OwnedGeneration> {
    const { closeTimeoutMs, connectTimeoutMs } = this.#settings.timeouts;
    const negotiation = negotiationFor(description, connectTimeoutMs);
    const client = await makeClient(this.#identity, description, negotiation);
    const signed = this.#signIn?.fetchFor(this.#number, this.#monitor);
    const transport = await makeTransport(description, this.#monitor, closeTimeoutMs, signed);
    this.#stop.signal.throwIfAborted();
    const made = this.#take(client as unknown as ClientShape, transport as TransportShape);
    // The SDK calls it before its own; the dial is not kept for that.
    const seen = this.#seen;
    transport.onclose = () => {
      seen.closed = true;
    };
    const overHttp = description.kind !== 'stdio';
    this.#monitor.watch(transport as TransportShape, {
      overHttp,
      tellsStreamEnd: overHttp && description.sdk !== undefined,
    });
    // The SDK's own timer would send a cancellation, which `initialize` forbids; the limit around this is ours.
    this.#holdOpen(transport as TransportShape);
    try {
      await this.#monitor.duringExchange(({ token }) =>
        client.connect(transport, { timeout: MAX_DURATION_MS, onresumptiontoken: token }),
      );
    } catch (error) {
      // The SDK tells only the status of a stream that it was refused.
      if (description.kind === 'sse') throw signed?.failure ?? error;
      // A process that could not be started, or that this dial has ended, says nothing.
      const hasEnded = seen.closed && made.processEnd !== undefined && !this.#stop.signal.aborted;
      throw negotiationFailed(description, hasEnded, error);
    }
    this.#letClose();
    return made;
  }

  async #ask(connect: Connect): Promise<OwnedGeneration> {
    const monitor = this.#monitor;
    const client = await connect({
      signal: this.#stop.signal,
      generation: this.#number,
      // Made for who takes it: a connection that is not over HTTP has no use for it.
      get fetch() {
        return monitor.watchFetch(globalThis.fetch, 'http');
      },
    });
    const transport = isClient(client) ? transportOf(client) : undefined;
    if (transport === undefined) {
      throw new TypeError('connect() must return a connected MCP client: what it returned has no transport');
    }
    const made = this.#take(client, transport);
    const overHttp = isOverHttp(transport);
    this.#monitor.watch(transport, { overHttp, tellsStreamEnd: overHttp && isVersion2(client) });
    if (this.#number > 1) await evictLists(client);
    const isAnswered = this.#monitor.hasBeenAnswered ?? showsAnAnswer(client);
    if (overHttp && !isAnswered) await this.#firstWord(made, transport);
    return made;
  }

  async #firstWord({ client }: OwnedGeneration, transport: TransportShape): Promise<void> {
    const { timeouts, liveness } = this.#settings;
    // A silent server must not use up the time of the dial.
    const timeout = Math.min(liveness.probeTimeoutMs, timeouts.connectTimeoutMs / 2);
    try {
      await awaitFirstWord(client, transport, { timeout, signal: this.#stop.signal });
    } catch (error) {
      // A session that this dial did not begin is not its to end, and a closed transport sends no DELETE.
      await (client as unknown as ClientShape).close();
      throw error;
    }
  }

  #take(client: ClientShape, transport: TransportShape): OwnedGeneration {
    this.#made = new OwnedGeneration(this.#number, client, transport, this.#monitor);
    return this.#made;
  }
}

function isClient(value: unknown): value is ClientShape {
  return typeof (value as ClientShape | undefined)?.request === 'function';
}
