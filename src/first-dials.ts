/**
 * Connections that were lost together do not dial together: a first dial is put off by chance if another one of this
 * process has begun shortly before. A connection that is alone dials at once.
 */
const SHORTLY_MS = 200;

let lastBegan = Number.NEGATIVE_INFINITY;

/** The share of its bound that a first delay takes: 0 to 1. */
export function firstDelayShare(): number {
  const now = performance.now();
  const isAlone = now - lastBegan >= SHORTLY_MS;
  lastBegan = now;
  return isAlone ? 0 : Math.random();
}
