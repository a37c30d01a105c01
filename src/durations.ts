/** Longer timers than this fire at once in Node and in browsers. */
export const MAX_DURATION_MS = 2 ** 31 - 1;

/** Milliseconds that a timer can wait. */
export function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MAX_DURATION_MS;
}
