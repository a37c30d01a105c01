/** `npm run bench` on a machine without Chromium. It measures what `npm ci` has built. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { type Ended, RunningCli, sourceArgs } from '../cli/run-cli.ts';

const MAIN = fileURLToPath(new URL('../../bench/main.ts', import.meta.url));
const NO_FILE = '/no/such/chromium';

const FIGURES = [
  { name: 'first contentful paint of the page', limit: 300, unit: 'ms' },
  { name: 'the page over the wire', limit: 60, unit: 'KB' },
  { name: 'longest frame at 1000 transitions a second', limit: 100, unit: 'ms' },
];

function benchOfPage(chromium: string, ...options: readonly string[]): Promise<Ended> {
  const args = [...sourceArgs(MAIN), 'paint', ...options];
  return new RunningCli(
    spawn(process.execPath, args, { env: { ...process.env, CHROMIUM: chromium } }),
  ).ended();
}

it.each([
  ['a path without a file', NO_FILE],
  ['a program that is no browser', process.execPath],
])('skips the figures of the page: %s', async (_, chromium) => {
  const { code, stdout } = await benchOfPage(chromium, '--json');
  const skipped = `No working Chromium at ${chromium}. Set CHROMIUM to the path of one.`;
  expect(JSON.parse(stdout)).toEqual(FIGURES.map((figure) => ({ ...figure, skipped })));
  expect(code).toBe(0);
});

it('says in one line which figures are skipped, and why', async () => {
  const { code, stdout } = await benchOfPage(NO_FILE);
  const names = FIGURES.map(({ name }) => name).join('; ');
  expect(stdout).toBe(
    `skipped  ${names}: No working Chromium at ${NO_FILE}. Set CHROMIUM to the path of one.\n`,
  );
  expect(code).toBe(0);
});
