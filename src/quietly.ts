/** Runs a hook of the host's. One that throws harms nobody, and has returned nothing. */
export function quietly<Result>(hook: () => Result): Result | undefined {
  try {
    return hook();
  } catch {
    return undefined;
  }
}
