// The account of what happened: one JSON a line, appended synchronously, so that it survives a SIGKILL in the very
// next instruction. ../fault-counts.ts reads it.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param {string} folder @param {number} number which process this is */
export function openLedger(folder, number) {
  const path = join(folder, 'ledger.jsonl');
  // Ends the half line that a killed process may have left.
  appendFileSync(path, '\n');
  return {
    /** @param {'arrived' | 'ran' | 'deleted' | 'held' | 'sockets'} is @param {Record<string, unknown>} [facts] */
    note(is, facts = {}) {
      appendFileSync(path, `${JSON.stringify({ process: number, is, ...facts })}\n`);
    },
  };
}
