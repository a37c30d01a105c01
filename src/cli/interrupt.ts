/** Ctrl+C, an ordinary kill, or the end of the terminal: none of them may leave a server behind. */
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Interrupt = (typeof SIGNALS)[number];

/** Keeps the process until it is interrupted. Who does that twice does not want to wait for what is still open. */
export function untilInterrupted(): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => {}, 60_000);
    let isInterrupted = false;
    onInterrupt((signal) => {
      if (isInterrupted) exit(signal);
      isInterrupted = true;
      clearInterval(alive);
      resolve();
    });
  });
}

/** For what has nothing to close in order. */
export function exitWhenInterrupted(): void {
  onInterrupt(exit);
}

function onInterrupt(listener: (signal: Interrupt) => void): void {
  for (const signal of SIGNALS) process.on(signal, listener);
}

/** Where the signal itself would end the process, nobody would end the servers: that is done at an exit. */
function exit(signal: Interrupt): never {
  process.exit(128 + constants.signals[signal]);
}
