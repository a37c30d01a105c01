/** However a command is stopped, no server outlives it, not even one that does not care whether it is read. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isAlive, untilGone } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { configFile, startCli } from './run-cli.ts';

/** Never answers, and does not end with its input. */
const STUBBORN = `
require('node:fs').writeFileSync(process.argv[1], String(process.pid));
process.stdin.resume();
setTimeout(() => process.exit(), 60_000);
`;

it.each([
  ['check', 'SIGINT', 130],
  ['check', 'SIGTERM', 143],
  ['check', 'SIGHUP', 129],
  ['watch', 'SIGINT', 1],
  ['watch', 'SIGHUP', 1],
  ['inspect', 'SIGHUP', 1],
] as const)('%s, at %s', async (command, signal, code) => {
  const note = configFile('');
  const stubborn = { command: process.execPath, args: ['-e', STUBBORN, note] };
  const cli = startCli([command, '--config', configFile({ mcpServers: { stubborn } })]);
  await until(() => readFileSync(note, 'utf8') !== '', { what: 'the server to start' });
  const pid = Number(readFileSync(note, 'utf8'));
  expect(isAlive(pid)).toBe(true);
  cli.interrupt(signal);
  expect((await cli.ended()).code).toBe(code);
  await untilGone(pid);
});

it('watch, interrupted twice, does not wait for what is still to be closed', async () => {
  const note = configFile('');
  const stubborn = { command: process.execPath, args: ['-e', STUBBORN, note] };
  const cli = startCli(['watch', '--json', '--config', configFile({ mcpServers: { stubborn } })]);
  await until(() => readFileSync(note, 'utf8') !== '', { what: 'the server to start' });
  cli.interrupt('SIGINT');
  // Two of one kind, so soon after each other, would be one.
  cli.interrupt('SIGTERM');
  expect((await cli.ended()).code).toBe(143);
  await untilGone(Number(readFileSync(note, 'utf8')));
});
