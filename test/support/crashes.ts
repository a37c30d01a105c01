/** No unhandled rejection and no uncaught exception, ever: call it at the head of a test file. */
import { afterEach, expect } from 'vitest';

export function expectNoCrashes(): void {
  const crashes: unknown[] = [];
  process.on('unhandledRejection', (reason) => void crashes.push(reason));
  process.on('uncaughtException', (error) => void crashes.push(error));
  afterEach(async () => {
    // Node tells of a rejection that nobody handles after the microtasks of the turn in which it came.
    await new Promise((resolve) => setImmediate(resolve));
    expect(crashes.splice(0), 'unhandled rejections and uncaught exceptions').toEqual([]);
  });
}
