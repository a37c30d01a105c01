import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Entry {
  readonly event: 'process' | 'initialize' | 'execution';
  readonly what: string;
  readonly pid: number;
}

/** What the servers of one scene wrote down. It outlives them. */
export class Ledger {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mcp-steward-demo-'));
  readonly path = join(this.#folder, 'ledger.jsonl');

  constructor() {
    writeFileSync(this.path, '');
    process.once('exit', () => this[Symbol.dispose]());
  }

  get initializes(): number {
    return this.#entries('initialize').length;
  }

  get executions(): number {
    return this.#entries('execution').length;
  }

  /** The process that started last. */
  get pid(): number | undefined {
    return this.#entries('process').at(-1)?.pid;
  }

  #entries(event: Entry['event']): Entry[] {
    const complete = readFileSync(this.path, 'utf8').split('\n').slice(0, -1);
    return complete.map((line) => JSON.parse(line) as Entry).filter((entry) => entry.event === event);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
