import { MAX_DURATION_MS } from './durations.ts';

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

/** The host's process does not end while somebody waits for this, though the timers of a recovery would let it. */
export async function keepingProcess<T>(promise: Promise<T>): Promise<T> {
  const timer = setInterval(() => {}, MAX_DURATION_MS);
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}
