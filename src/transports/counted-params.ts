/**
 * Counts the requests of a call on a client whose transport is not ours. SDK v2 copies the parameters once for each
 * request, symbols included, and JSON leaves symbols out.
 */
const REQUEST = Symbol('request');

/** `onRequest` is called before each request. What is no object is returned as it is, and takes one request only. */
export function countedParams(params: unknown, onRequest: () => void): unknown {
  if (params !== undefined && Object(params) !== params) return params;
  return Object.defineProperty({ ...(params as object) }, REQUEST, { enumerable: true, get: onRequest });
}
