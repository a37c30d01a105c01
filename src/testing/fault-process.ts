/** One server process: it introduced itself over the control socket, and lives no longer than that socket is open. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** A zombie has ended, though its parent has not noticed. Where there is no /proc, it counts as living. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the name in brackets, may hold blanks and brackets.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

export class ServerProcess {
  /** 1, 2, 3 …: the ledger knows a process by its number, for pids are used again. */
  readonly number: number;
  readonly pid: number;
  readonly #socket: Socket;
  readonly #unanswered = new Map<number, (result: unknown) => void>();
  #orders = 0;

  constructor(number: number, pid: number, socket: Socket) {
    this.number = number;
    this.pid = pid;
    this.#socket = socket;
    socket.once('close', () => {
      for (const resolve of this.#unanswered.values()) resolve(undefined);
    });
  }

  get lives(): boolean {
    return this.signal(0) && !isZombie(this.pid);
  }

  /** False if there is no such process any more. */
  signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(this.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
      throw error;
    }
  }

  /** Resolves with the answer when the order was carried out, with undefined if the process ended before. */
  order(name: string, argument?: unknown): Promise<unknown> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve(undefined);
      const order = ++this.#orders;
      this.#unanswered.set(order, resolve);
      // Somebody waits: until the answer has come, this socket does keep the host alive.
      this.#socket.ref();
      this.#socket.write(`${JSON.stringify({ order, name, argument })}\n`);
    });
  }

  answered(line: string): void {
    const { order, result } = JSON.parse(line) as { order: number; result?: unknown };
    this.#unanswered.get(order)?.(result);
    this.#unanswered.delete(order);
    if (this.#unanswered.size === 0) this.#socket.unref();
  }
}
