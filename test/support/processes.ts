import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.ts';

/** Runs and is not a zombie that waits to be reaped. */
export function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== 'Z' && stat.state !== 'X';
}

/** The process group that it is in; undefined if there is no such process. */
export function groupOf(pid: number): number | undefined {
  return statOf(pid)?.group;
}

/** The living processes below `pid`, by /proc. A process whose parent has died is below it no longer. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const each = Number(name);
    const stat = Number.isInteger(each) ? statOf(each) : undefined;
    if (stat === undefined || stat.state === 'Z') continue;
    children.set(stat.ppid, [...(children.get(stat.ppid) ?? []), each]);
  }
  const found: number[] = [];
  for (const queue = [pid]; queue.length > 0; ) {
    const below = children.get(queue.shift() ?? 0) ?? [];
    found.push(...below);
    queue.push(...below);
  }
  return found;
}

export async function untilGone(pid: number, timeoutMs = 15_000): Promise<void> {
  await until(() => !isAlive(pid), { timeoutMs, what: `the end of process ${pid}` });
}

/** Is it (still) the process whose command line holds `mark`? Pids are used again. */
export function isOurs(pid: number, mark: string): boolean {
  try {
    return isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
  } catch {
    return false;
  }
}

function statOf(pid: number): { state: string; ppid: number; group: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name in brackets, may hold blanks.
    const [state = '', ppid, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state, ppid: Number(ppid), group: Number(group) };
  } catch {
    return undefined;
  }
}
