/** What a fault server has counted, out of the ledger that its processes write. It outlives each of them. */
import { readFileSync } from 'node:fs';

export interface FaultCounts {
  /** Server processes that were started, the first included. */
  processes: number;
  /** Those of them that still live, paused ones included. */
  alive: number;
  /** `initialize` requests that arrived, whatever became of them. */
  initializes: number;
  /** `notifications/initialized` that arrived. */
  handshakes: number;
  /** `ping` requests that arrived, whatever became of them. */
  pings: number;
  /** `tools/call` requests that arrived, whatever became of them. */
  toolCalls: number;
  /** Requests that are held now, also those whose asker has given up. */
  held: number;
  /** How often a tool ran, by the `key` argument of the call. A key that never ran is not there. */
  executions: Record<string, number>;
  /** HTTP `DELETE` requests that arrived, whatever became of them. */
  deletes: number;
  /** Open TCP connections of the HTTP server now, idle ones that a client keeps included; 0 for stdio. */
  sockets: number;
}

/** One line of the ledger, as src/testing/server writes it. */
interface LedgerLine {
  /** Which process wrote it: 1, 2, 3 … */
  process: number;
  is: 'arrived' | 'ran' | 'deleted' | 'held' | 'sockets';
  /** `arrived`: the JSON-RPC method. */
  method?: string;
  /** `ran`: the key of the call. */
  key?: string;
  /** `held`, `sockets`: how many there are from now on. */
  now?: number;
}

/** A process that was killed may leave half a line. */
function parse(text: string): LedgerLine | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `alive`: the numbers of the processes that live; what only a living one can have is not counted for others. */
export function readCounts(path: string, processes: number, alive: ReadonlySet<number>): FaultCounts {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map(parse)
    .filter((line) => line !== undefined);
  const arrived = (method: string) =>
    lines.filter((line) => line.is === 'arrived' && line.method === method).length;
  const nowOf = (is: 'held' | 'sockets') => {
    const latest = new Map(
      lines.filter((line) => line.is === is).map((line) => [line.process, line.now ?? 0]),
    );
    return [...latest].reduce((sum, [number, now]) => sum + (alive.has(number) ? now : 0), 0);
  };
  const executions = new Map<string, number>();
  for (const { is, key } of lines) {
    if (is === 'ran' && key !== undefined) executions.set(key, (executions.get(key) ?? 0) + 1);
  }
  return {
    processes,
    alive: alive.size,
    initializes: arrived('initialize'),
    handshakes: arrived('notifications/initialized'),
    pings: arrived('ping'),
    toolCalls: arrived('tools/call'),
    held: nowOf('held'),
    executions: Object.fromEntries(executions),
    deletes: lines.filter(({ is }) => is === 'deleted').length,
    sockets: nowOf('sockets'),
  };
}
