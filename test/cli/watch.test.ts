import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../src/inspect/steps.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { configFile, NODE_ARGS, RunningCli, startCli } from './run-cli.ts';

const configOf = ({ target }: FaultServer) => {
  const { url } = target as { url: string };
  return configFile({ mcpServers: { files: { url } } });
};

describe('watch --json', () => {
  it('is one event a line, from the first dial to the end', async () => {
    await using server = await FaultServer.start();
    const cli = startCli(['watch', '--json', '--config', configOf(server)]);
    await cli.printed(/"to":"ready\.steady"/);
    await server.restart();
    await server.until('it is connected again', ({ initializes }) => initializes === 2);
    await cli.printed(/"path":\["lost"[\s\S]*"to":"ready\.steady"/);
    cli.interrupt();
    const { code, stdout, stderr } = await cli.ended();
    expect(stderr).toBe('');
    const steps = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Step);
    const states = steps.flatMap(({ path }) => path.map((state) => state.split('.')[0]));
    const order = states.filter((state, index) => state !== states[index - 1]);
    expect(order.slice(0, 4)).toEqual(['connecting', 'ready', 'lost', 'recreating']);
    expect(order.at(-1)).toBe('ready');
    expect(code).toBe(0);
  });

  it('exits 1 when a server is not ready at the end', async () => {
    const config = configFile({ mcpServers: { away: { url: await refusingUrl() } } });
    const cli = startCli(['watch', '--json', '--config', config]);
    await cli.printed(/"event":"open failed"/);
    cli.interrupt();
    expect((await cli.ended()).code).toBe(1);
  });
});

it('watch without a terminal prints plain lines', async () => {
  await using server = await FaultServer.start();
  const cli = startCli(['watch', '--config', configOf(server)]);
  await cli.printed(
    /^\d\d:\d\d:\d\d {2}files {2}open done: connecting\.opening → ready\.steady {2}\(generation 1\)$/m,
  );
  cli.interrupt();
  const { code, stdout } = await cli.ended();
  expect(stdout).not.toContain('\u001b');
  expect(code).toBe(0);
});

it('watch on a terminal is a table that changes', async () => {
  await using server = await FaultServer.start();
  const command = [process.execPath, ...NODE_ARGS, 'watch', '--config', configOf(server)].join(' ');
  const env = { PATH: process.env.PATH ?? '', TERM: 'xterm-256color' };
  const child = spawn('script', ['-qec', `stty cols 120 rows 30; exec ${command}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const cli = new RunningCli(child);
  await cli.printed(/connection[\s\S]*state[\s\S]*files[\s\S]*ready/);
  await server.kill();
  await cli.printed(/recreating/);
  // Ctrl+C, as a terminal gives it on.
  child.stdin?.write('\u0003');
  const { code } = await cli.ended();
  expect(code).toBe(1);
});
