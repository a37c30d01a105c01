/** `npm start` on a terminal: it stays, with a page, until Ctrl+C. What it does without one is a step of the gate. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { RunningCli, sourceArgs } from '../cli/run-cli.ts';

const MAIN = fileURLToPath(new URL('../../demo/main.ts', import.meta.url));
const COMMAND = [process.execPath, ...sourceArgs(MAIN)];
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/;

function onTerminal(args: string) {
  const child = spawn('script', ['-qec', `stty cols 100; exec ${COMMAND.join(' ')} ${args}`, '/dev/null']);
  return { child, demo: new RunningCli(child) };
}

it('serves a page after its scenes, from which a connection can be lost, until Ctrl+C', async () => {
  const { child, demo } = onTerminal('');
  await demo.printed(ADDRESS);
  const url = new URL(ADDRESS.exec(demo.stdout)?.[0] ?? '');
  expect((await fetch(url)).status).toBe(200);
  for (const [control, connection, status] of [
    ['kill', 'files', 204],
    ['restart', 'files', 204],
    ['restart', 'mine', 204],
    ['evict', 'search', 500],
    ['explode', 'files', 404],
  ] as const) {
    const ask = new URL(url);
    ask.pathname = '/control';
    ask.searchParams.set('control', control);
    ask.searchParams.set('connection', connection);
    const response = await fetch(ask, { method: 'POST' });
    expect([control, response.status]).toEqual([control, status]);
  }
  child.stdin.write('\u0003');
  const { code, stdout } = await demo.ended();
  expect(stdout).toContain('4 of 4 scenes hold');
  expect(code).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
}, 60_000);

it('--once ends after the scenes on a terminal too', async () => {
  const { code, stdout } = await onTerminal('--once').demo.ended();
  expect(stdout).not.toMatch(ADDRESS);
  expect(code).toBe(0);
}, 60_000);
