/** A few seconds of the soak, as its command runs it: on ours, and on the wrapper on which it must find something. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { Report } from '../../soak/report.ts';
import { sourceArgs } from '../cli/run-cli.ts';

const MAIN = fileURLToPath(new URL('../../soak/main.ts', import.meta.url));

function soak(...args: string[]): Promise<{ code: number; report: Report }> {
  const command = ['--expose-gc', ...sourceArgs(MAIN), '--json', '--seed', '7', ...args];
  return new Promise((resolve) => {
    const child = execFile(process.execPath, command, { maxBuffer: 1e8 }, (_error, stdout) =>
      resolve({ code: child.exitCode ?? -1, report: JSON.parse(stdout) }),
    );
  });
}

it('finds nothing against ours', async () => {
  const { code, report } = await soak('--seconds', '8');
  expect(report.shown).toEqual([]);
  expect(code).toBe(0);
  // It has been through something.
  expect(report).toMatchObject({ subject: 'steward', seed: 7, violations: {} });
  expect(Object.keys(report.faults).length).toBeGreaterThan(5);
  expect(report.recreations).toBeGreaterThan(0);
  expect(report.executions).toBeGreaterThan(50);
}, 180_000);

it('finds calls that ran twice, and what is left, against a wrapper that sends again whatever failed', async () => {
  const { code, report } = await soak('--seconds', '4', '--subject', 'naive');
  expect(code).toBe(1);
  expect(report.violations['ran twice']).toBeGreaterThan(0);
  expect(report.violations['session left']).toBeGreaterThan(0);
  const twice = report.shown.find(({ rule }) => rule === 'ran twice');
  const runs = twice?.lines?.filter(({ event }) => event === 'run') ?? [];
  expect(runs.length).toBeGreaterThan(1);
  expect(new Set(runs.map(({ id }) => id))).toEqual(new Set([twice?.call]));
}, 180_000);
