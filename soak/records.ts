/** What the oracle reads: what servers and callers wrote down. In files, so that the soak's own heap stays flat. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { Fault } from './plan.ts';

/** One line of a server's journal. */
export interface JournalLine {
  readonly event:
    | 'spawn'
    /** A handshake began. */
    | 'initialize'
    /** The client has said that its handshake is finished. */
    | 'initialized'
    /** A DELETE came for it. */
    | 'deleted'
    | 'evicted'
    /** A tool call arrived. */
    | 'begin'
    /** Revision 2026-07-28: it was answered with a question, before it had its effect. */
    | 'asked'
    /** It had its effect. */
    | 'run';
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly pid: number;
  readonly id?: string;
  readonly session?: string;
  readonly connection?: string;
}

export type CallKind = 'append' | 'search' | 'read' | 'list' | 'ping';

/** One call, as its caller saw it. */
export interface CallRecord {
  readonly id: string;
  readonly kind: CallKind;
  readonly connection: string;
  readonly site: string;
  readonly startedAt: number;
  readonly settledAt: number;
  /** When it had to be settled at the latest: its timeout, or its abort. */
  readonly dueAt: number;
  /** For how much of its time this process itself was late. */
  readonly lateMs: number;
  /** The connection was not ready when it came. */
  readonly waited: boolean;
  /** The text of the answer, where there is one; undefined where it failed. */
  readonly answer?: string;
  readonly error?: CallError;
}

export interface CallError {
  /** The error's class, its code, and `why`. */
  readonly label: string;
  readonly message: string;
  /** Its `evidence.execution`. */
  readonly execution?: string;
}

/** What the monkey did. */
export interface FaultRecord {
  readonly site: string;
  readonly fault: Fault;
  readonly from: number;
  readonly to: number;
  /** Of a process that was killed. */
  readonly pid?: number;
}

const BUFFERED_LINES = 500;

export class RecordFile<T> {
  readonly #path: string;
  readonly #file: number;
  #lines: string[] = [];
  count = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'a');
  }

  add(record: T): void {
    this.count++;
    this.#lines.push(`${JSON.stringify(record)}\n`);
    if (this.#lines.length >= BUFFERED_LINES) this.#flush();
  }

  /** All of them; nothing is added afterwards. */
  readAll(): T[] {
    this.#flush();
    closeSync(this.#file);
    return readLines<T>(this.#path);
  }

  #flush(): void {
    writeSync(this.#file, this.#lines.join(''));
    this.#lines = [];
  }
}

export function readLines<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T);
}
