/** How late this process itself was: a loaded machine must not look like a call that came too late. */
const EVERY_MS = 20;

export class Lateness {
  #total = 0;
  #due = Date.now() + EVERY_MS;
  readonly #timer = setInterval(() => this.#tick(), EVERY_MS);

  /** Milliseconds since the beginning in which the event loop was late; between two looks, what it was meanwhile. */
  get total(): number {
    return this.#total + Math.max(0, Date.now() - this.#due);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = Date.now();
    this.#total += Math.max(0, now - this.#due);
    this.#due = now + EVERY_MS;
  }
}
