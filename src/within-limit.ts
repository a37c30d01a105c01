/** Waits for a step, but not longer than the limit, and not for its result. Never rejects. */
export async function withinLimit(step: () => Promise<unknown> | undefined, limitMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  const work = Promise.resolve()
    .then(step)
    .catch(() => {});
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
