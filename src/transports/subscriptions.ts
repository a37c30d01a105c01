/**
 * The streams on which a server of revision 2026-07-28 tells of changes (`subscriptions/listen`). SDK v2 never opens
 * one again: here it is, for as long as the host wants it, and what may have been missed is told once.
 */
import { delayMs } from '../../machines/connection.machine.ts';
import { backgroundClock } from '../clock.ts';
import { shapeOf } from '../evidence/error-shape.ts';
import type { Settings } from '../options.ts';
import type { JsonRpcMessage, SendOptions, TransportShape } from './client-shape.ts';

/** What is listened to. Resources are not named: their URIs may be secrets. */
export type Listened = 'tools' | 'prompts' | 'resources' | 'resource updates';

export interface ListenStreamLoss {
  readonly listened: readonly Listened[];
  /** It is not opened again. */
  readonly final: boolean;
}

export interface ListenFilter {
  readonly toolsListChanged?: boolean | undefined;
  readonly promptsListChanged?: boolean | undefined;
  readonly resourcesListChanged?: boolean | undefined;
  readonly resourceSubscriptions?: readonly string[] | undefined;
}

export interface SubscriptionsParts {
  /** At whose pace a stream that is lost is asked for again, and for how long. */
  readonly recovery: Pick<Settings['recovery'], 'initialBackoffMs' | 'maxBackoffMs' | 'windowMs'>;
  readonly lost: (loss: ListenStreamLoss) => void;
  /** What the server last asked with `retry`, in milliseconds. */
  readonly retryMs: () => number;
  /** Hands a message to the client, as if it came from the server. */
  readonly deliver: (message: JsonRpcMessage) => void;
}

const LISTEN = 'subscriptions/listen';
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
/** A stream that lived for so long did not end at once. */
const LIVED_MS = 1_000;
/** To a request for a stream: the server has none, or not for this client. */
const REFUSED: readonly number[] = [400, 401, 403, 404, 405, 406, 415, 501];

/** One stream, and its reopenings. */
interface Subscription {
  readonly filter: ListenFilter;
  /** Asks for the stream, again. Rejects where it was refused. */
  readonly open: () => Promise<unknown>;
  /** Tells the SDK that it has ended. */
  readonly end: () => void;
  openedAt: number;
  acknowledged: boolean;
  lostAt: number | undefined;
  timer: unknown;
}

export class Subscriptions {
  readonly #parts: SubscriptionsParts;
  readonly #live = new Map<unknown, Subscription>();
  /** Since a stream last lived for a while: a server that ends each at once is asked less and less often. */
  #attempts = 0;

  constructor(parts: SubscriptionsParts) {
    this.#parts = parts;
  }

  static asksFor({ method }: JsonRpcMessage): boolean {
    return method === LISTEN;
  }

  /** The client asks for a stream. It is kept open until the client gives it up. */
  listen(
    send: TransportShape['send'],
    message: JsonRpcMessage,
    options: SendOptions | undefined,
  ): Promise<void> {
    const { requestSignal, onRequestStreamEnd } = options ?? {};
    const { params } = message as { params?: { notifications?: ListenFilter } };
    const ended = () => this.#ended(message.id);
    const subscription = newSubscription(
      params?.notifications ?? {},
      () => send(message, { ...options, onRequestStreamEnd: ended }),
      () => onRequestStreamEnd?.(),
    );
    this.#live.set(message.id, subscription);
    requestSignal?.addEventListener('abort', () => this.#forget(message.id), { once: true });
    return subscription.open().catch((error: unknown) => {
      this.#forget(message.id);
      throw error;
    }) as Promise<void>;
  }

  /** One has ended of which the client knows that: `listen` asks for another. */
  lostUnseen(filter: ListenFilter, listen: () => Promise<unknown>): void {
    const key = {};
    const open = async () => {
      await listen();
      this.#forget(key);
      this.#tellMissed(filter);
    };
    this.#live.set(
      key,
      newSubscription(filter, open, () => {}),
    );
    this.#lost(key);
  }

  /** A message has come. `listen`: asks the client for another stream. */
  received(message: JsonRpcMessage, listen: (filter: ListenFilter) => Promise<unknown>): void {
    if (this.#live.size === 0) return;
    const { id, method, result } = message;
    const { requestId, _meta } = paramsOf(message);
    if (method === 'notifications/subscriptions/acknowledged') {
      this.#acknowledged(Object(_meta)[SUBSCRIPTION_ID]);
      return;
    }
    // How a server ends a stream well: with a result, or over a pipe with a cancellation. The client knows of it.
    const ended = method === 'notifications/cancelled' ? requestId : method === undefined ? id : undefined;
    const subscription = this.#live.get(ended);
    if (subscription === undefined) return;
    this.#forget(ended);
    this.#noteLife(subscription);
    const isRefusal = method === undefined && result === undefined;
    if (isRefusal && subscription.lostAt !== undefined) this.#announce(subscription, true);
    else if (!isRefusal && subscription.acknowledged) {
      this.lostUnseen(subscription.filter, () => listen(subscription.filter));
    }
  }

  /** The generation is given up, and its streams with it. */
  retire(): void {
    for (const id of [...this.#live.keys()]) this.#forget(id);
  }

  #acknowledged(id: unknown): void {
    const subscription = this.#live.get(id);
    if (subscription === undefined) return;
    const wasLost = subscription.lostAt !== undefined;
    Object.assign(subscription, { acknowledged: true, openedAt: Date.now(), lostAt: undefined });
    if (wasLost) queueMicrotask(() => this.#tellMissed(subscription.filter));
  }

  #ended(id: unknown): void {
    const subscription = this.#live.get(id);
    if (subscription === undefined) return;
    if (subscription.acknowledged) this.#lost(id);
    else {
      this.#forget(id);
      subscription.end();
    }
  }

  #lost(id: unknown): void {
    const subscription = this.#live.get(id);
    if (subscription === undefined || subscription.timer !== undefined) return;
    if (subscription.lostAt === undefined) {
      subscription.lostAt = Date.now();
      this.#noteLife(subscription);
      this.#announce(subscription, false);
    }
    const pauseMs = delayMs({ ...this.#parts.recovery, spawns: false }, this.#attempts++, Math.random());
    const waitMs = Math.max(this.#parts.retryMs(), pauseMs);
    subscription.timer = backgroundClock.setTimeout(() => void this.#reopen(id, subscription), waitMs);
  }

  async #reopen(id: unknown, subscription: Subscription): Promise<void> {
    subscription.timer = undefined;
    const lostMs = Date.now() - (subscription.lostAt ?? Date.now());
    if (lostMs >= this.#parts.recovery.windowMs) return this.#giveUp(id, subscription);
    try {
      await subscription.open();
    } catch (error) {
      if (!this.#live.has(id)) return;
      const { isRpc, status = 0 } = shapeOf(error);
      if (isRpc || REFUSED.includes(status)) this.#giveUp(id, subscription);
      else this.#lost(id);
    }
  }

  #giveUp(id: unknown, subscription: Subscription): void {
    this.#forget(id);
    this.#announce(subscription, true);
    subscription.end();
  }

  #forget(id: unknown): void {
    backgroundClock.clearTimeout(this.#live.get(id)?.timer as never);
    this.#live.delete(id);
  }

  #noteLife({ acknowledged, openedAt }: Subscription): void {
    if (acknowledged && Date.now() - openedAt >= LIVED_MS) this.#attempts = 0;
  }

  #announce({ filter }: Subscription, final: boolean): void {
    this.#parts.lost({ listened: listenedTo(filter), final });
  }

  /** What has changed while nobody listened is not known: one notice for each thing makes the host ask. */
  #tellMissed(filter: ListenFilter): void {
    const tell = (what: string, params?: object) =>
      this.#parts.deliver({
        jsonrpc: '2.0',
        method: `notifications/${what}`,
        ...(params && { params }),
      } as JsonRpcMessage);
    if (filter.toolsListChanged) tell('tools/list_changed');
    if (filter.promptsListChanged) tell('prompts/list_changed');
    if (filter.resourcesListChanged) tell('resources/list_changed');
    for (const uri of filter.resourceSubscriptions ?? []) tell('resources/updated', { uri });
  }
}

function newSubscription(filter: ListenFilter, open: () => Promise<unknown>, end: () => void): Subscription {
  return {
    filter,
    open,
    end,
    openedAt: Date.now(),
    acknowledged: false,
    lostAt: undefined,
    timer: undefined,
  };
}

export function listenedTo(filter: ListenFilter): Listened[] {
  const listened: Listened[] = [];
  if (filter.toolsListChanged) listened.push('tools');
  if (filter.promptsListChanged) listened.push('prompts');
  if (filter.resourcesListChanged) listened.push('resources');
  if (filter.resourceSubscriptions?.length) listened.push('resource updates');
  return listened;
}

function paramsOf(message: JsonRpcMessage): { requestId?: unknown; _meta?: unknown } {
  return Object((message as { params?: unknown }).params);
}
