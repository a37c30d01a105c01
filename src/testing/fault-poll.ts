const EVERY_MS = 5;

/**
 * Asks until there is an answer, and returns it; after `timeoutMs` undefined. What else belongs to a fault server
 * keeps no process alive: this does, as long as somebody waits.
 */
export async function poll<T>(ask: () => T | undefined, timeoutMs: number): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = ask();
    if (answer !== undefined || performance.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
