/** The exchanges of calls that the server may still answer, by the id that the client gave their last request. */
import type { JsonRpcMessage } from './client-shape.ts';
import type { Exchange } from './exchange.ts';

export class Exchanges {
  readonly #byId = new Map<string | number, Exchange>();
  readonly #givenUp = new Set<Exchange>();
  /** Requests that are no call's, until they were sent. */
  readonly others = new Set<Exchange>();

  /** How many of them the host gave up. */
  get outstanding(): number {
    return this.#givenUp.size;
  }

  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  [Symbol.iterator](): Iterator<Exchange> {
    return this.#byId.values();
  }

  add(exchange: Exchange): void {
    this.#byId.set(exchange.requestId as string | number, exchange);
  }

  remove(exchange: Exchange): void {
    if (exchange.requestId === undefined) return;
    this.#byId.delete(exchange.requestId);
    exchange.stream?.stopTimer();
    if (this.#givenUp.size > 0) this.#givenUp.delete(exchange);
  }

  has(exchange: Exchange): boolean {
    return exchange.requestId !== undefined && this.#byId.get(exchange.requestId) === exchange;
  }

  /** The host does not wait for it any more; the server may still be working on it. */
  giveUp(exchange: Exchange): void {
    if (!this.has(exchange)) return;
    exchange.stream?.stopTimer();
    this.#givenUp.add(exchange);
  }

  /** The one whose last request is this very message. */
  ofMessage(message: JsonRpcMessage): Exchange | undefined {
    const exchange = this.#byId.get(message.id as string | number);
    return exchange?.message === message ? exchange : undefined;
  }

  /** The one whose last request had this body. */
  ofBody(body: unknown): Exchange | undefined {
    return sentAs(body, this.#byId.values());
  }

  otherOfBody(body: unknown): Exchange | undefined {
    return sentAs(body, this.others);
  }

  /** An answer came. Both SDKs take its id for a number, also where it is a string. */
  answer(id: string | number): Exchange | undefined {
    const exchange = this.#byId.get(Number(id)) ?? this.#byId.get(id);
    if (exchange !== undefined) {
      exchange.answered = true;
      if (exchange.settled) this.remove(exchange);
    }
    if (this.#givenUp.size > 0) this.#forgetThoseBefore(Number(id));
    return exchange;
  }

  /** Clients number their requests in order, and who answers a later one is not busy with an earlier one. */
  #forgetThoseBefore(id: number): void {
    for (const exchange of this.#givenUp) if (Number(exchange.requestId) < id) this.remove(exchange);
  }
}

function sentAs(body: unknown, exchanges: Iterable<Exchange>): Exchange | undefined {
  for (const exchange of exchanges) if (exchange.wasSentAs(body)) return exchange;
  return undefined;
}
