/** A cold import of the package beside one of the SDK's client, each in a new process. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { alternate } from '../alternate.ts';
import { type Figure, spread, time } from '../measure.ts';
import type { Summary } from '../stats.ts';

const ROUNDS = 20;
const SDK = import.meta.resolve('@modelcontextprotocol/sdk/client/index.js');
const PACKAGE = new URL('../../dist/src/index.js', import.meta.url).href;

const run = promisify(execFile);

export async function coldImport(): Promise<Figure[]> {
  const { times, ratios } = await alternate(
    {
      sdk: () => imported(SDK),
      package: () => imported(PACKAGE),
      both: () => imported(PACKAGE, SDK),
    },
    { rounds: ROUNDS, warmUp: 1 },
  );
  const figure = (name: string, ratio: Summary): Figure => ({
    name,
    ratio: ratio.median,
    limit: 1.25,
    unit: '× the SDK client’s',
    detail: `${spread(ratio)}; the SDK client ${time(times.sdk!.median)}`,
  });
  return [
    figure('cold import of the package', ratios.package!),
    figure('cold import of the package, and of the SDK client that its first dial loads', ratios.both!),
  ];
}

/** Milliseconds of the import alone, without the start of Node. */
async function imported(...urls: string[]): Promise<number> {
  const imports = urls.map((url) => `await import(${JSON.stringify(url)});`).join('');
  const script = `const begun = performance.now(); ${imports} console.log(performance.now() - begun)`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  return Number(stdout);
}
