/**
 * Connections that were lost together do not dial together: a first dial is put off by chance if one of another
 * connection of this process has begun shortly before. A connection that is alone dials at once.
 */
const SHORTLY_MS = 200;

let last: { readonly by: WeakRef<object>; readonly at: number } | undefined;

/** The share of its bound that a first delay takes: 0 to 1. */
export function firstDelayShare(connection: object): number {
  const now = performance.now();
  const isAlone = last === undefined || now - last.at >= SHORTLY_MS || last.by.deref() === connection;
  last = { by: new WeakRef(connection), at: now };
  return isAlone ? 0 : Math.random();
}
