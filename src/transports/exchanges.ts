/** The exchanges of calls that the server may still answer. */
import type { JsonRpcMessage } from './client-shape.ts';
import type { Exchange } from './exchange.ts';

type RequestId = string | number;

export class Exchanges {
  /** The number of the newest call that has sent anything. */
  newest = 0;
  /** Most hosts have one call in flight, and a Map would cost more than all the rest. */
  #single: Exchange | undefined;
  /** All but that one, by the ids that the client gave their last requests. */
  #byId: Map<RequestId, Exchange> | undefined;
  #givenUp: Set<Exchange> | undefined;
  #others: Set<Exchange> | undefined;

  /** Requests that are no call's, until they were sent. */
  get others(): Set<Exchange> {
    this.#others ??= new Set();
    return this.#others;
  }

  /** How many of them the host gave up. */
  get outstanding(): number {
    return this.#givenUp === undefined ? 0 : this.#givenUp.size;
  }

  get isEmpty(): boolean {
    return this.#single === undefined && (this.#byId === undefined || this.#byId.size === 0);
  }

  *[Symbol.iterator](): Generator<Exchange> {
    if (this.#single !== undefined) yield this.#single;
    if (this.#byId !== undefined) yield* this.#byId.values();
  }

  add(exchange: Exchange): void {
    this.newest = exchange.number;
    if (this.isEmpty || this.#single === exchange) this.#single = exchange;
    else {
      this.#byId ??= new Map();
      this.#byId.set(exchange.requestId as RequestId, exchange);
    }
  }

  remove(exchange: Exchange): void {
    exchange.stream?.stopTimer();
    if (this.#single === exchange) this.#single = undefined;
    else if (exchange.requestId !== undefined) this.#byId?.delete(exchange.requestId);
    if (this.outstanding > 0) this.#givenUp?.delete(exchange);
  }

  has(exchange: Exchange): boolean {
    return exchange.requestId !== undefined && this.#of(exchange.requestId) === exchange;
  }

  /** The host does not wait for it any more; the server may still be working on it. */
  giveUp(exchange: Exchange): void {
    if (!this.has(exchange)) return;
    exchange.stream?.stopTimer();
    this.#givenUp ??= new Set();
    this.#givenUp.add(exchange);
  }

  /** The one whose last request is this very message. */
  ofMessage(message: JsonRpcMessage): Exchange | undefined {
    const exchange = this.#of(message.id as RequestId);
    return exchange?.message === message ? exchange : undefined;
  }

  /** The one whose last request had this body. Calls that are newer than `upTo` are not asked, which saves work. */
  ofBody(body: unknown, upTo = this.newest): Exchange | undefined {
    for (const exchange of this) if (exchange.number <= upTo && exchange.wasSentAs(body)) return exchange;
    return undefined;
  }

  otherOfBody(body: unknown): Exchange | undefined {
    for (const other of this.others) if (other.wasSentAs(body)) return other;
    return undefined;
  }

  /** An answer came. Both SDKs take its id for a number, also where it is a string. */
  answer(id: RequestId): Exchange | undefined {
    const exchange = this.#of(id) ?? this.#of(Number(id));
    if (exchange !== undefined) {
      exchange.answered = true;
      if (exchange.settled) this.remove(exchange);
    }
    if (this.outstanding > 0) this.#forgetThoseBefore(Number(id));
    return exchange;
  }

  #of(id: RequestId): Exchange | undefined {
    return this.#single?.requestId === id ? this.#single : this.#byId?.get(id);
  }

  /** Clients number their requests in order, and who answers a later one is not busy with an earlier one. */
  #forgetThoseBefore(id: number): void {
    for (const exchange of this.#givenUp ?? []) if (Number(exchange.requestId) < id) this.remove(exchange);
  }
}
