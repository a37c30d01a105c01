import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { FaultServer } from '../../src/testing/index.ts';
import { Onlooker } from '../browser/onlooker.ts';
import { until } from '../support/until.ts';
import { configFile, runCli, startCli } from './run-cli.ts';

it('serves the page of the configured servers, until Ctrl+C', async () => {
  await using server = await FaultServer.start();
  const { url } = server.target as { url: string };
  const cli = startCli(['inspect', '--config', configFile({ mcpServers: { files: { url } } })]);
  await cli.printed(/^http:\/\/127\.0\.0\.1:\d+\/\?token=\S+\n/);
  const page = new URL(cli.stdout.trim());
  expect(await (await fetch(page)).text()).toContain('<title>');
  await using onlooker = await Onlooker.of({ url: page.href });
  await until(() => /"state":"ready"/.test(onlooker.text), { what: 'the connection to be ready' });
  cli.interrupt();
  expect(await cli.ended()).toMatchObject({ code: 0, stderr: '' });
  await server.until('its session is ended', ({ deletes }) => deletes === 1);
  await expect(fetch(page)).rejects.toThrow();
});

it('a port that is taken, or is none, is wrong usage; nothing has been connected', async () => {
  await using server = await FaultServer.start();
  const { url } = server.target as { url: string };
  const config = configFile({ mcpServers: { files: { url } } });
  const holder = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void holder.close());
  const { port } = await new Promise<{ port: number }>((resolve) => {
    holder.once('listening', () => resolve(holder.address() as { port: number }));
  });
  const taken = await runCli(['inspect', '--config', config, '--port', String(port)]);
  expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining(`port ${port}: EADDRINUSE`) });
  const none = await runCli(['inspect', '--config', config, '--port', 'http']);
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('--port: "http" is no port') });
  const large = await runCli(['inspect', '--config', config, '--port', '70000']);
  expect(large).toMatchObject({ code: 2, stderr: expect.stringContaining('expected a port') });
  expect(server.counts().initializes).toBe(0);
});
