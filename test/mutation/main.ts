/**
 * `npm run test:mutation`: changes the machines, the classifier and the replay policy in one place each, and expects the
 * tests to notice. The configs of the machines are changed by our own mutator, everything else by StrykerJS. Fails if
 * a mutant survives that is not excused in survivors.ts or config-survivors.ts, or if an excuse is for none that survived.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { noteRun } from '../paths/last-run.ts';
import type { ConfigRun } from './config-run.ts';
import { CONFIG_SURVIVORS } from './config-survivors.ts';
import { strykerResult } from './stryker-result.ts';
import { SURVIVORS } from './survivors.ts';

interface Outcome {
  readonly total: number;
  /** Named by file and by what was changed. */
  readonly survivors: readonly string[];
}

const CONFIG_RUN = fileURLToPath(new URL('./config-run.ts', import.meta.url));

async function node(args: readonly string[], stdout: 'inherit' | 'pipe'): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', stdout, 'inherit'] });
  const printed = child.stdout === null ? '' : text(child.stdout);
  const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode];
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}`);
  return printed;
}

async function configs(): Promise<Outcome> {
  const shares = availableParallelism();
  const runs = await Promise.all(
    Array.from({ length: shares }, async (_, share) => {
      const printed = await node(['--import', 'tsx', CONFIG_RUN, String(share), String(shares)], 'pipe');
      return JSON.parse(printed) as ConfigRun;
    }),
  );
  return {
    total: runs.reduce((sum, { total }) => sum + total, 0),
    survivors: runs.flatMap(({ survivors }) => survivors),
  };
}

async function code(): Promise<Outcome> {
  await node(['node_modules/.bin/stryker', 'run', 'test/mutation/stryker.config.mjs'], 'inherit');
  const { total, survivors } = strykerResult();
  return { total, survivors: survivors.map(({ file, mutant }) => `${file} ${mutant}`) };
}

const outcomes = [await configs(), await code()];
const total = outcomes.reduce((sum, each) => sum + each.total, 0);
const survivors = outcomes.flatMap((each) => each.survivors);

const excused = [
  ...CONFIG_SURVIVORS,
  ...SURVIVORS.map(({ file, mutant, reason }) => ({ mutant: `${file} ${mutant}`, reason })),
];
const unexcused = survivors.filter((name) => !excused.some(({ mutant }) => mutant === name));
const stale = excused.filter(({ mutant }) => !survivors.includes(mutant));

for (const name of unexcused) console.error(`survived: ${name}`);
for (const { mutant } of stale) console.error(`excused, but not among the survivors: ${mutant}`);
console.log(
  `${total - survivors.length} of ${total} mutants noticed, ${survivors.length - unexcused.length} excused`,
);
noteRun('mutants', { killed: total - survivors.length, total, excused });
if (unexcused.length + stale.length > 0) process.exitCode = 1;
