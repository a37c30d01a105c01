import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One line that a server wrote about itself; what else it holds depends on `event` (test/servers). */
export interface LedgerEvent {
  event: LedgerEventName;
  at: number;
  pid: number;
  session?: string | null;
  [fact: string]: unknown;
}

export type LedgerEventName =
  | 'spawn' // a server process is up
  | 'clash' // stdio: what exists once was taken: {kind}
  | 'leader' // stdio: the wrapper is up
  | 'grandchild' // stdio: {child} was started by a tool
  | 'request' // came over the wire, whatever became of it: {method, id, session, known, tool?, key?}
  | 'fault' // a fault hit a request: {kind, on}
  | 'initialize' // handed to the MCP server: {session, hadSessionHeader, protocolVersionHeader, …}
  | 'initialized'
  | 'call' // a tool began: {tool, key, session}
  | 'run' // a tool had its effect: {tool, key, session}
  | 'cancelled' // {requestId}
  | 'subscribe' // {uri}
  | 'unsubscribe' // {uri}
  | 'setLevel' // {level}
  | 'get' // {session, lastEventId, status, path}
  | 'delete' // {session, status}
  | 'stream' // legacy SSE: a stream opened a session
  | 'refused' // initialize, since there is a session: {status}
  | 'evicted' // {session}
  | 'sigterm'; // a stubborn server got the signal

export type LedgerFilter = (event: LedgerEvent) => boolean;

/** The file in which servers write down what they did. It outlives them; the test's dispose removes it. */
export class Ledger {
  readonly #folder = mkdtempSync(join(tmpdir(), 'steward-ledger-'));
  readonly path = join(this.#folder, 'ledger.jsonl');

  constructor() {
    writeFileSync(this.path, '');
  }

  events(event?: LedgerEventName): LedgerEvent[] {
    const all = readFileSync(this.path, 'utf8')
      .split('\n')
      // The last line may be half there while its process is being killed.
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LedgerEvent);
    return event === undefined ? all : all.filter((each) => each.event === event);
  }

  count(event: LedgerEventName, filter: LedgerFilter = () => true): number {
    return this.events(event).filter(filter).length;
  }

  /** How often a tool had its effect: all, or those with this key. */
  runs(key?: string): number {
    return this.count('run', (each) => key === undefined || each.key === key);
  }

  /** How often the MCP server itself got `initialize` (one that a fault answered does not count). */
  initializes(): number {
    return this.count('initialize');
  }

  deletes(): number {
    return this.count('delete');
  }

  /** How many requests with this JSON-RPC method came over the wire, whatever became of them. */
  requests(method: string): number {
    return this.count('request', (each) => each.method === method);
  }

  /** Empties it, so that what follows is counted from zero. */
  clear(): void {
    writeFileSync(this.path, '');
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
