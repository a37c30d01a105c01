/** Ends a child and everything that it started. The child leads a process group of its own (`detached`). */
import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import process from 'node:process';

const POLL_MS = 20;

const liveGroups = new Set<number>();

function killGroupsOnExit(): void {
  for (const pid of liveGroups) signalTree(pid, 'SIGKILL');
}

/** From now on the tree dies with this process, even if nobody closes the connection. */
export function adoptTree(pid: number): void {
  if (liveGroups.size === 0) process.once('exit', killGroupsOnExit);
  liveGroups.add(pid);
}

/** True if the signal reached a process. */
function signalTree(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (process.platform === 'win32') {
    if (signal === 0) return false;
    // Windows has no process groups to signal; taskkill walks the tree by parent.
    return spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true }).status === 0;
  }
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

async function untilGone(pid: number, child: ChildProcess, limitMs: number): Promise<boolean> {
  const limit = performance.now() + limitMs;
  while (performance.now() < limit) {
    const leaderGone = child.exitCode !== null || child.signalCode !== null;
    if (leaderGone && !signalTree(pid, 0)) return true;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return false;
}

/** Asks (stdin has been ended by the caller), then tells, then kills. Resolves when the whole tree is gone. */
export async function endTree(child: ChildProcess, graceMs: number): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const leaderDied = child.exitCode !== null || child.signalCode !== null;
  // What a dead leader left behind has nobody to ask it.
  const gone =
    (!leaderDied && (await untilGone(pid, child, graceMs))) ||
    (signalTree(pid, 'SIGTERM') && (await untilGone(pid, child, graceMs)));
  if (!gone && signalTree(pid, 'SIGKILL')) await untilGone(pid, child, graceMs);
  liveGroups.delete(pid);
  if (liveGroups.size === 0) process.removeListener('exit', killGroupsOnExit);
}
