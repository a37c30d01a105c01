/** Waits for a condition, not for a while. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 8_000;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what}: waited for 8 s`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
