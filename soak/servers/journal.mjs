// What a server did, one line each. Every line is one write to the file: a SIGKILL in the next instruction loses none.
import { openSync, writeSync } from 'node:fs';

/** @param {string} path */
export function openJournal(path) {
  const file = openSync(path, 'a');
  return {
    /** @param {string} event @param {Record<string, unknown>} [facts] */
    write(event, facts) {
      writeSync(file, `${JSON.stringify({ event, at: Date.now(), pid: process.pid, ...facts })}\n`);
    },
  };
}
