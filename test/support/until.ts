/** Polls until `predicate` is truthy, and returns what it said. Never a plain sleep: it waits for a condition. */
export async function until<T>(
  predicate: () => T | Promise<T>,
  { timeoutMs = 30_000, everyMs = 5, what = 'the condition' }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await predicate();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`${what} did not come true within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

export interface UntilOptions {
  timeoutMs?: number;
  everyMs?: number;
  /** Named in the error. */
  what?: string;
}
