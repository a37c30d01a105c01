/** A child and everything that it started. The child leads a process group of its own (`detached`). */
import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { isRunningIn, runningIn } from './process-group.ts';

const POLL_MS = 5;

/** `ask`: its stdin has been ended, and it is given time. `kill`: it gets none. */
export type Ending = 'ask' | 'kill';

const liveGroups = new Set<number>();

function killGroupsOnExit(): void {
  for (const pid of liveGroups) signalGroup(pid, 'SIGKILL');
}

/** True if the group has members. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (process.platform === 'win32') {
    // Windows has no process groups to signal; taskkill walks the tree by parent.
    if (signal !== 0) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
    return false;
  }
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    // Linux says so of members that belong to another user, macOS of zombies.
    return (error as NodeJS.ErrnoException).code === 'EPERM' && process.platform === 'linux';
  }
}

export class ProcessTree {
  readonly #leader: ChildProcess;
  readonly #pid: number;
  /** Members that were found running after the leader had gone: they are looked at before all of /proc. */
  #found: readonly number[] = [];
  #isGone = false;
  #wasKilled = false;

  /** From now on the tree dies with this process, even if nobody ends it. */
  constructor(leader: ChildProcess, pid: number) {
    this.#leader = leader;
    this.#pid = pid;
    if (liveGroups.size === 0) process.once('exit', killGroupsOnExit);
    liveGroups.add(pid);
  }

  /** Resolves with the pids that still run after `limitMs`; none as soon as the whole tree is gone. */
  async end(how: Ending, limitMs: number): Promise<readonly number[]> {
    const signals = this.#signals(how);
    for (const signal of signals) {
      if (this.#checkGone()) return [];
      if (signal === 'SIGKILL') this.#wasKilled = true;
      signalGroup(this.#pid, signal);
      if (await this.#untilGone(limitMs / signals.length)) return [];
    }
    const running = runningIn(this.#pid) ?? [this.#pid];
    // The leader may have ended without Node having heard of it.
    if (running.length === 0) this.#letGo();
    return running;
  }

  /** Each is given an equal part of the time. 0: its end of stdin is all that it is told. */
  #signals(how: Ending): readonly (NodeJS.Signals | 0)[] {
    if (how === 'kill' || this.#wasKilled) return ['SIGKILL'];
    // What a dead leader left behind has nobody to ask it.
    return this.#leaderIsGone ? ['SIGTERM', 'SIGKILL'] : [0, 'SIGTERM', 'SIGKILL'];
  }

  async #untilGone(limitMs: number): Promise<boolean> {
    const limit = performance.now() + limitMs;
    while (!this.#checkGone()) {
      if (performance.now() >= limit) return false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return true;
  }

  get #leaderIsGone(): boolean {
    return this.#leader.exitCode !== null || this.#leader.signalCode !== null;
  }

  #checkGone(): boolean {
    if (this.#isGone) return true;
    if (!this.#leaderIsGone || (signalGroup(this.#pid, 0) && this.#hasRunningMembers())) return false;
    this.#letGo();
    return true;
  }

  /** Its pid may be another's from now on, and is never signalled again. */
  #letGo(): void {
    this.#isGone = true;
    liveGroups.delete(this.#pid);
    if (liveGroups.size === 0) process.removeListener('exit', killGroupsOnExit);
  }

  #hasRunningMembers(): boolean {
    if (this.#found.some((pid) => isRunningIn(this.#pid, pid))) return true;
    const running = runningIn(this.#pid);
    this.#found = running ?? [];
    return running === undefined || running.length > 0;
  }
}
