/**
 * What the last run of the live routes, and of the mutants, came to. Those runs note it outside of what is tracked;
 * `npm run routes` keeps it here, and prints it in docs/recovery-routes.md.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const NOTED = new URL('../../coverage/last-run/', import.meta.url);
const KEPT = new URL('./last-run/', import.meta.url);

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
type RunName = keyof Runs;

export function noteRun<K extends RunName>(name: K, result: Runs[K]): void {
  mkdirSync(NOTED, { recursive: true });
  writeFileSync(new URL(`${name}.json`, NOTED), `${JSON.stringify(result, null, 2)}\n`);
}

export function keepLastRuns(): void {
  if (existsSync(NOTED)) cpSync(NOTED, KEPT, { recursive: true });
}

/** Undefined if there was none yet. */
export function keptRun<K extends RunName>(name: K): Runs[K] | undefined {
  return read(name, KEPT);
}

/** Kept or only noted. */
export function newestRun<K extends RunName>(name: K): Runs[K] | undefined {
  return read(name, NOTED) ?? read(name, KEPT);
}

function read<K extends RunName>(name: K, folder: URL): Runs[K] | undefined {
  const file = new URL(`${name}.json`, folder);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}
