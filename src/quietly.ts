/** Runs a hook of the host's. One that throws, or rejects, harms nobody; the one that throws has returned nothing. */
export function quietly<Result>(hook: () => Result): Result | undefined {
  try {
    const result = hook();
    if (result instanceof Promise) result.catch(() => {});
    return result;
  } catch {
    return undefined;
  }
}
