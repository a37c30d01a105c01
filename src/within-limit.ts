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

/** Waits for a promise, but not longer than the caller wants it. Rejects with the signal's reason. */
export async function abortable<T>(waited: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return waited;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([waited, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
