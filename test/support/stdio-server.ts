import type { Fault } from './faults.ts';
import { Ledger } from './ledger.ts';
import { isOurs } from './processes.ts';
import { serverScript } from './server-script.ts';

export interface StdioServerOptions {
  /** `exec-child`: a leader process starts the real server with the same pipes, as `npx` does. */
  wrapper?: 'exec-child';
  /** The leader dies first, by itself. Or kill `leader()`. */
  leaderExitsAfterMs?: number;
  /** Ignores SIGTERM and the end of its stdin (for 60 s at most). */
  stubborn?: boolean;
  /** It takes a lock file or a port, and exits with code 1 if another process has it; a grandchild is given the lock. */
  exclusive?: 'lock' | 'port';
  /** Written to stderr at the start. */
  stderr?: string;
  pages?: number;
  extraTools?: number;
  toolsVersion?: number;
  /**
   * Never answers initialize: `{ on: 'initialize', kind: 'never' }`. Exits before: `{ on: 'initialize', kind: 'exit' }`.
   * Exits between the answer and `initialized`: `{ on: 'initialize', kind: 'exit', when: 'after' }`. Each process starts with all of them.
   */
  faults?: Fault[];
}

/** How to spawn a server, and an account of all that were spawned that way. */
export interface StdioServer {
  readonly command: string;
  readonly args: string[];
  readonly ledger: Ledger;
  /** Every process that wrote to the ledger: servers, leaders, grandchildren. */
  pids(): number[];
  /** Those that still live. */
  alive(): number[];
  /** The latest real server; not its leader. */
  server(): number;
  /** The latest leader. */
  leader(): number;
  /** The latest grandchild. */
  grandchild(): number;
  /** Kills what is left, by the recorded pids. */
  [Symbol.asyncDispose](): Promise<void>;
}

export function stdioServer(options: StdioServerOptions = {}): StdioServer {
  const { wrapper, ...rest } = options;
  const ledger = new Ledger();
  const script = wrapper === 'exec-child' ? 'stdio-leader' : 'stdio-server';

  const pids = (): number[] => {
    const all = ledger.events().map((each) => (each.event === 'grandchild' ? Number(each.child) : each.pid));
    return [...new Set(all)];
  };
  const alive = (): number[] => pids().filter((pid) => isOurs(pid, ledger.path));
  const latest = (event: 'spawn' | 'leader' | 'grandchild'): number => {
    const last = ledger.events(event).at(-1);
    if (last === undefined) throw new Error(`no ${event} in the ledger yet`);
    return event === 'grandchild' ? Number(last.child) : last.pid;
  };

  return {
    command: process.execPath,
    args: [serverScript(script), JSON.stringify({ ...rest, ledger: ledger.path })],
    ledger,
    pids,
    alive,
    server: () => latest('spawn'),
    leader: () => latest('leader'),
    grandchild: () => latest('grandchild'),
    async [Symbol.asyncDispose]() {
      for (const pid of alive()) process.kill(pid, 'SIGKILL');
      ledger[Symbol.dispose]();
    },
  };
}
