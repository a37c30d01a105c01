import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { FaultServer } from '../../src/testing/index.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { configFile, runCli } from './run-cli.ts';

const JSON_OF_A_SESSION = { 'content-type': 'application/json', 'mcp-session-id': 'one' };
const SECRET = 'hunter2-s3cr3t-value';

/** A fault server as an entry of a host's configuration. */
function entryOf({ target }: FaultServer): object {
  if (target.kind === 'stdio') return { command: target.command, args: target.args };
  return { type: 'http', url: target.url };
}

it('connects to every server once, and lists what it offers', async () => {
  await using http = await FaultServer.start({ transport: 'http' });
  await using stdio = await FaultServer.start({ transport: 'stdio' });
  const config = configFile({ mcpServers: { web: entryOf(http), local: entryOf(stdio) } });
  const { code, stdout, stderr } = await runCli(['check', '--config', config]);
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^web {2}ok {2}\d+ ms/m);
  expect(stdout).toMatch(/^local {2}ok {2}\d+ ms/m);
  expect(stdout).toContain('2 tools: append, read');
  expect(code).toBe(0);
  expect(http.counts().initializes).toBe(1);
  expect(stdio.counts().initializes).toBe(1);
  await stdio.until('no process is left', ({ alive }) => alive === 0);
});

it('says which one failed, and why; as JSON for scripts', async () => {
  await using server = await FaultServer.start();
  const config = configFile({
    servers: {
      good: entryOf(server),
      away: { url: await refusingUrl(), headers: { authorization: SECRET } },
      missing: { command: '/nowhere/server', args: [SECRET], env: { TOKEN: SECRET } },
      unused: { command: '/nowhere/server', disabled: true },
    },
  });
  const { code, stdout, stderr } = await runCli(['check', '--json', '--config', config]);
  const { servers } = JSON.parse(stdout);
  expect(servers).toMatchObject([
    { server: 'good', ok: true, offer: { tools: ['append', 'read'], prompts: [], resources: [] } },
    { server: 'away', ok: false },
    { server: 'missing', ok: false },
  ]);
  expect(servers[1].error).toBe('no connection could be made to the server.');
  expect(stdout + stderr).not.toContain(SECRET);
  expect(code).toBe(1);
});

it('shows the end of what a server wrote that did not start, but no value that was passed to it', async () => {
  const script = 'console.error(`no such folder, ${process.env.TOKEN}`); process.exit(3)';
  const config = configFile({
    mcpServers: { broken: { command: process.execPath, args: ['-e', script], env: { TOKEN: SECRET } } },
  });
  const { code, stdout } = await runCli(['check', '--config', config]);
  expect(stdout).toContain("The server's process exited with code 3.");
  expect(stdout).toContain('| no such folder, [redacted]');
  expect(stdout).not.toContain(SECRET);
  expect(code).toBe(1);
});

it('fills in environment variables', async () => {
  await using server = await FaultServer.start();
  const { url } = server.target as { url: string };
  const config = configFile({ mcpServers: { web: { url: '${SERVER}${NOTHING:-}' } } });
  expect(await runCli(['check', '--config', config], { SERVER: String(url) })).toMatchObject({ code: 0 });
});

it('what a server says does not reach the terminal as control characters', async () => {
  const config = configFile({ mcpServers: { 'a\u001b[2Jb': { command: '/nowhere/server' } } });
  const { stdout } = await runCli(['check', '--config', config]);
  expect(stdout).not.toContain('\u001b[2J');
});

/** Lists one more page, whatever it is asked; or the same one. */
const pages = (nextCursor: string) => `
let asked = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'lists', version: '1' } }
    : { tools: [{ name: 'one', inputSchema: { type: 'object' } }], nextCursor: ${nextCursor} };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

it('a list without an end is a failure, and one that comes again is listed once', async () => {
  const script = (nextCursor: string) => ({ command: process.execPath, args: ['-e', pages(nextCursor)] });
  const config = configFile({
    mcpServers: { endless: script('String(++asked)'), deaf: script("'again'"), empty: script("''") },
  });
  const { code, stdout } = await runCli(['check', '--json', '--config', config]);
  expect(JSON.parse(stdout).servers).toMatchObject([
    { server: 'endless', ok: false, error: 'it connected, but its list of tools has more than 100 pages' },
    { server: 'deaf', ok: true, offer: { tools: ['one'] } },
    { server: 'empty', ok: true, offer: { tools: ['one'] } },
  ]);
  expect(code).toBe(1);
});

it('a server that speaks the older transport may be meant', async () => {
  const older = createServer((_request, response) => void response.writeHead(405).end());
  older.listen(0, '127.0.0.1');
  await once(older, 'listening');
  const { port } = older.address() as AddressInfo;
  const config = configFile({ mcpServers: { older: { url: `http://127.0.0.1:${port}/` } } });
  const { stdout } = await runCli(['check', '--config', config]);
  older.close();
  expect(stdout).toContain('It answered 405: it may speak the older HTTP+SSE, "type": "sse".');
});

it('but not one that has connected, and lost its session then', async () => {
  const forgetful = createServer(async (request, response) => {
    // The stream of the session, and its end.
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await text(request));
    const result = {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'forgetful', version: '1' },
    };
    if (id === undefined) response.writeHead(202).end();
    else if (method !== 'initialize') response.writeHead(404).end();
    else response.writeHead(200, JSON_OF_A_SESSION).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  forgetful.listen(0, '127.0.0.1');
  await once(forgetful, 'listening');
  const { port } = forgetful.address() as AddressInfo;
  const config = configFile({ mcpServers: { forgetful: { url: `http://127.0.0.1:${port}/` } } });
  const { code, stdout } = await runCli(['check', '--config', config]);
  forgetful.close();
  expect(stdout).toContain('forgetful  failed');
  expect(stdout).not.toContain('older');
  expect(code).toBe(1);
});

it('what was filled in is not shown, wherever it stands', async () => {
  const script = 'console.error(process.argv.slice(1).join()); process.exit(3)';
  const args = ['-e', script, '--', 'postgres://me:${SECRET_VALUE}@db/', '${SECRET_VALUE}'];
  const config = configFile({ mcpServers: { broken: { command: process.execPath, args } } });
  const { stdout } = await runCli(['check', '--config', config], { SECRET_VALUE: SECRET });
  expect(stdout).toContain('| postgres://me:[redacted]@db/,[redacted]');
  expect(stdout).not.toContain(SECRET);
});
