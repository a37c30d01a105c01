/** What the last run of the live routes, and of the mutants, came to: written by those runs, read by `npm run routes`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const FOLDER = new URL('./last-run/', import.meta.url);

export interface LiveRun {
  readonly routes: number;
  readonly passed: number;
}

export interface MutationRun {
  readonly killed: number;
  readonly total: number;
  /** What survived, and why it may. */
  readonly excused: readonly { readonly mutant: string; readonly reason: string }[];
}

/** Over stdio each dial is a process: those routes are walked in three shares, side by side. */
export const LIVE_RUNS = [
  'own-http',
  'own-stdio-1',
  'own-stdio-2',
  'own-stdio-3',
  'lent-http',
  'lent-stdio',
] as const;

type Runs = Record<(typeof LIVE_RUNS)[number], LiveRun> & { mutants: MutationRun };

export function noteRun<K extends keyof Runs>(name: K, result: Runs[K]): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(new URL(`${name}.json`, FOLDER), `${JSON.stringify(result, null, 2)}\n`);
}

/** Undefined if there was none yet. */
export function lastRun<K extends keyof Runs>(name: K): Runs[K] | undefined {
  try {
    return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined;
    throw error;
  }
}
