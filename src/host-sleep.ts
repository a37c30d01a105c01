/**
 * Notices that the host's process slept: the machine was suspended, or the process stopped. What it was connected to
 * may be gone since, and no packet has said so.
 */

const TICK_MS = 1_000;
/** How late a timer has to be. */
const LATE_MS = 2_000;

/** Of all threads, in milliseconds. A runtime that does not tell has none. */
function cpuTimeMs(): number {
  const { user, system } = globalThis.process?.cpuUsage?.() ?? { user: 0, system: 0 };
  return (user + system) / 1_000;
}

class HostSleep {
  /** How many sleeps were noticed so far. */
  count = 0;
  /** Until then the timer is not late. */
  quietUntil = Number.POSITIVE_INFINITY;
  #tickedAt = Date.now();
  #cpuMs = cpuTimeMs();
  #watchers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** From the first connection that is watched on; the timer keeps no process alive. */
  watch(): void {
    this.#watchers++;
    if (this.#timer !== undefined) return;
    this.look(Date.now());
    this.#timer = setInterval(() => this.look(Date.now()), TICK_MS);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  unwatch(): void {
    this.#watchers--;
    if (this.#watchers > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Called by the timer, and by a call that comes before the timer that is late. */
  look(now: number): void {
    const lateMs = now - this.#tickedAt - TICK_MS;
    const cpuMs = cpuTimeMs();
    // A process that was merely busy has spent the time.
    if (this.#timer !== undefined && lateMs > LATE_MS && cpuMs - this.#cpuMs < lateMs / 2) this.count++;
    this.#tickedAt = now;
    this.quietUntil = now + TICK_MS + LATE_MS;
    this.#cpuMs = cpuMs;
  }
}

/** One for the process: it sleeps as a whole. */
export const hostSleep = new HostSleep();
