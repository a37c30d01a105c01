/** What runs the machines' timers. A host's tests may supply XState's `SimulatedClock`. */
export interface Clock {
  setTimeout(fn: (...args: unknown[]) => void, timeoutMs: number): unknown;
  clearTimeout(id: unknown): void;
}

/** For timers that nobody waits for: they do not keep a process alive. A waiting call has a timer of its own. */
export const backgroundClock: Clock = {
  setTimeout(fn, timeoutMs) {
    const timer: unknown = setTimeout(fn, timeoutMs);
    (timer as { unref?: () => void }).unref?.();
    return timer;
  },
  clearTimeout: (id) => clearTimeout(id as ReturnType<typeof setTimeout>),
};

export const foregroundClock: Clock = {
  setTimeout: (fn, timeoutMs) => setTimeout(fn, timeoutMs),
  clearTimeout: backgroundClock.clearTimeout,
};
