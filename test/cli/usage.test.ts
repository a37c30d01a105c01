/** What is wrong in a command or a configuration is said, with its place; never what was found there. */
import { expect, it } from 'vitest';
import { readServers } from '../../src/cli/config.ts';
import { run } from '../../src/cli/run.ts';
import { UsageError } from '../../src/cli/usage-error.ts';
import { InvalidOptionsError } from '../../src/index.ts';
import { sdk2 } from '../../src/sdk-2.ts';
import { configFile, runCli, startCli } from './run-cli.ts';

const SECRET = 'hunter2-s3cr3t-value';

/** What `main.ts` prints. */
async function errorOf(args: readonly string[]): Promise<string> {
  const error: unknown = await run(args).then(
    (code) => `it ended with ${code}`,
    (reason: unknown) => reason,
  );
  expect(error).toSatisfy((each) => each instanceof UsageError || each instanceof InvalidOptionsError);
  return (error as Error).message;
}

const server = (entry: object) => ({ mcpServers: { files: entry } });

it.each([
  ['a file that is no JSON', `{ "token": "${SECRET}" `, 'mcp.json: it is not JSON'],
  ['no list of servers', { token: SECRET }, 'mcpServers: expected an object of servers'],
  ['an empty list', { mcpServers: {} }, 'it has no server that is not disabled'],
  [
    'neither command nor url',
    server({ env: { TOKEN: SECRET } }),
    'files: it has neither a command nor a url',
  ],
  ['both', server({ command: SECRET, url: SECRET }), 'files: it has both a command and a url'],
  [
    'no such type',
    server({ type: SECRET, url: 'http://127.0.0.1' }),
    'mcpServers.files.type: expected stdio',
  ],
  ['no list of args', server({ command: 'x', args: SECRET }), 'mcpServers.files.args: expected a list'],
  ['no URL', server({ url: SECRET }), 'transport.url: expected an absolute http: or https: URL'],
  [
    'a variable that is not set',
    server({ command: '${NOT_SET}' }),
    'the environment variable NOT_SET is not set',
  ],
  [
    'a default in a default',
    server({ command: '${A:-${B}}' }),
    'a variable cannot stand in what another has for a default',
  ],
  [
    'a command over HTTP',
    server({ type: 'http', command: SECRET }),
    'its type is http, and it has a command',
  ],
  ['a URL over stdio', server({ type: 'stdio', url: SECRET }), 'its type is stdio, and it has a url'],
  ['a question', server({ command: '${input:key}' }), 'it asks for an input'],
])('%s', async (_what, content, message) => {
  const error = await errorOf(['check', '--config', configFile(content)]);
  expect(error).toContain(message);
  expect(error).not.toContain(SECRET);
});

it.each([
  [['chekc'], 'there is no command "chekc"'],
  [['check', '--colour'], "Unknown option '--colour'"],
  [['check', '--format', 'svg'], 'check takes no --format'],
  [['check', 'me'], 'check: "me" is too much'],
  [['check', '--config', '/nowhere.json'], '/nowhere.json: it cannot be read (ENOENT)'],
  [['graph', 'supervisor'], 'there is no machine "supervisor": expected connection, operation'],
  [['graph', '--format', 'png'], 'there is no format "png": expected mermaid, dot, json, svg'],
  [['graph', 'constructor'], 'there is no machine "constructor"'],
])('%j', async (args, message) => {
  expect(await errorOf(args)).toContain(message);
});

it('is printed to stderr, and the exit code is 2', async () => {
  expect(await runCli(['chekc'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'mcp-steward: there is no command "chekc"\nmcp-steward --help tells how to use it\n',
  });
});

it('--help tells how to use it; nothing at all does so too, and is wrong', async () => {
  expect(await runCli(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage:') });
  expect(await runCli([])).toMatchObject({ code: 2, stdout: expect.stringContaining('Usage:') });
});

it('what is wrong in an entry that is disabled is in nobody’s way', async () => {
  const off = { disabled: true, command: 5, env: { TOKEN: '${NOT_SET}' } };
  const found = await readServers(configFile({ mcpServers: { off, on: { command: 'node' } } }), {});
  expect([...found.keys()]).toEqual(['on']);
});

it('a configuration may have comments, trailing commas and a byte order mark, and say more than is used', async () => {
  const content = `\uFEFF{
    // Local ones.
    "servers": {
      "files": { "command": "node", "args": ["\${EMPTY:-a.mjs}"], "description": "costs \${AMOUNT}", },
    },
  }`;
  const servers = await readServers(configFile(content), { EMPTY: '' });
  expect(servers.get('files')).toEqual({
    kind: 'stdio',
    command: 'node',
    args: ['a.mjs'],
    secrets: [],
  });
});

it('what a file says does not reach the terminal as control characters', async () => {
  const { stderr } = await runCli(['check', '--config', configFile(server({})).replace('mcp', '\u001b[2J')]);
  expect(stderr).toContain('it cannot be read');
  expect(stderr).not.toContain('\u001b');
});

it('a reader that has had enough ends it as it ends other programs', async () => {
  const cli = startCli(['graph']);
  cli.closeOutput();
  expect((await cli.ended()).code).toBe(141);
});

it('a server that asks for SDK v2 is made by it', async () => {
  const servers = await readServers(configFile(server({ url: 'http://127.0.0.1', sdk: 2 })), {});
  expect(servers.get('files')).toEqual({
    kind: 'http',
    url: 'http://127.0.0.1',
    headers: undefined,
    sdk: sdk2,
  });
  expect(await errorOf(['check', '--config', configFile(server({ url: SECRET, sdk: SECRET }))])).toContain(
    'mcpServers.files.sdk: expected 1 or 2',
  );
});
