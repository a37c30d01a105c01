/** Who still runs in a process group. Signal 0 cannot tell: a zombie holds its group until its parent looks. */
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

/** The pids; undefined where there is no Linux /proc to ask. */
export function runningIn(group: number): readonly number[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => isRunningIn(group, pid));
  } catch {
    return undefined;
  }
}

export function isRunningIn(group: number, pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2, the name in brackets, may hold blanks and brackets; what follows it begins with field 3.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, , pgrp] = fields;
    // A process whose first thread has ended shows as a zombie while others still run.
    const hasEnded = (state === 'Z' || state === 'X') && Number(fields[17]) <= 1;
    return Number(pgrp) === group && !hasEnded;
  } catch {
    return false;
  }
}
