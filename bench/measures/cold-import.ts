/** A cold import of the package beside one of the SDK's client, each in a new process. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Figure, spread, time } from '../measure.ts';
import { summarise } from '../stats.ts';

const ROUNDS = 30;
const SDK = import.meta.resolve('@modelcontextprotocol/sdk/client/index.js');
const OURS = new URL('../../dist/src/index.js', import.meta.url).href;

const run = promisify(execFile);

export async function coldImport(): Promise<Figure[]> {
  await imported(SDK);
  await imported(OURS);
  const times = { sdk: [] as number[], ours: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const order = Math.random() < 0.5 ? (['sdk', 'ours'] as const) : (['ours', 'sdk'] as const);
    for (const which of order) times[which].push(await imported(which === 'sdk' ? SDK : OURS));
  }
  const ratio = summarise(times.ours.map((ms, round) => ms / (times.sdk[round] as number)));
  return [
    {
      name: 'cold import of the package',
      ratio: ratio.median,
      limit: 1.25,
      unit: '× the SDK client’s',
      detail: `${spread(ratio)}; the SDK client ${time(summarise(times.sdk).median)}`,
    },
  ];
}

/** Milliseconds of the import alone, without the start of Node. */
async function imported(url: string): Promise<number> {
  const script = `const begun = performance.now(); await import(${JSON.stringify(url)}); console.log(performance.now() - begun)`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}
