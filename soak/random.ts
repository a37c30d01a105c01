/** Random numbers that a seed decides (mulberry32), so that a run can be asked for again. */
export class Random {
  #state: number;

  /** `name` gives each who draws a row of its own: what one draws moves no other. */
  constructor(seed: number, name: string) {
    this.#state = seed >>> 0;
    for (const character of name)
      this.#state = Math.imul(this.#state ^ character.charCodeAt(0), 0x01000193) >>> 0;
    // Neighbouring seeds begin alike.
    for (let n = 0; n < 8; n++) this.next();
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number, both ends included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of them, as often as its weight says. */
  weighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    return choices.at(-1)![1];
  }
}
