import { readdirSync } from 'node:fs';
import { isAlive } from './processes.ts';

/** Kills a child and blocks until the last of its threads is gone, before Node can have told anybody. */
export function killAndSee(pid: number): void {
  process.kill(pid, 'SIGKILL');
  while (isAlive(pid) || readdirSync(`/proc/${pid}/task`).length > 1);
}
