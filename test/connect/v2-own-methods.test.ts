// What is asked of a client of SDK v2 is asked as it does itself: its checks of results, its headers, its retry.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSupervisor, type OwnOptions } from '../../src/index.ts';
import { sdk2 } from '../../src/sdk-2.ts';
import { connectV2 } from '../support/raw-client.ts';

const MODERN = '2026-07-28';
const primes = { name: 'primes', arguments: { region: 'eu' } };
const wrong = { name: 'wrong', arguments: {} };

const TOOLS = [
  {
    name: 'primes',
    inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
    outputSchema: { type: 'array', items: { type: 'number' } },
  },
  {
    name: 'wrong',
    inputSchema: { type: 'object' },
    outputSchema: { type: 'array', items: { type: 'number' } },
  },
];

/** Results of 2026-07-28 that SDK v1 does not know. */
const RESULTS: Record<string, (params: { name?: string }, req: IncomingMessage) => object | undefined> = {
  'server/discover': () => ({
    supportedVersions: [MODERN],
    capabilities: { tools: {}, prompts: {}, resources: {} },
  }),
  'tools/list': () => ({ tools: TOOLS }),
  'prompts/list': () => ({ prompts: [{ name: 'p' }] }),
  'resources/list': () => ({ resources: [{ name: 'r', uri: 'a:b' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': () => ({ contents: [{ uri: 'a:b', text: 't' }] }),
  'prompts/get': () => ({ messages: [] }),
  'tools/call': ({ name }, { headers }) => {
    if (name === 'wrong') return { content: [], structuredContent: ['a'] };
    if (headers['mcp-param-region'] !== 'eu') return undefined;
    return { content: [], structuredContent: [2, 3] };
  },
};

const server = createServer(async (req, res) => {
  let body = '';
  for await (const chunk of req) body += chunk;
  const { id, method, params } = JSON.parse(body);
  const result = RESULTS[method]?.(params, req);
  const answer =
    result === undefined
      ? { error: { code: -32020, message: 'Header mismatch' } }
      : { result: { resultType: 'complete', ttlMs: 0, cacheScope: 'public', ...result } };
  res.writeHead(result === undefined ? 400 : 200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
let url: URL;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
});
afterAll(() => void server.close());

const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
afterAll(() => supervisor.close());

const connect = async () => (await connectV2(url, MODERN)).client;
/** An object that shows its version and nothing else of a client. */
const bare = async () => {
  const client = await connect();
  return { request: client.request.bind(client), discover: client.discover.bind(client) };
};
const WAYS = {
  'transport, SDK v2': async () => supervisor.own('t', { transport: { kind: 'http', url, sdk: sdk2 } }),
  connect: async () => supervisor.own('c', { connect } as unknown as OwnOptions),
  adopt: async () => supervisor.adopt('a', await connect()),
  adoptSession: async () => supervisor.adoptSession('s', await connect()),
};

describe.each(Object.entries(WAYS))('%s', (_way, make) => {
  it('is as the client itself', async () => {
    await using handle = await make();
    const options = { timeout: 3_000 };
    const array = { structuredContent: [2, 3] };
    expect(await handle.listTools()).toMatchObject({ tools: [{ outputSchema: { type: 'array' } }, {}] });
    expect(await handle.callTool(primes)).toMatchObject(array);
    expect(await handle.callTool(primes, options)).toMatchObject(array);
    expect(await handle.callTool(primes, CallToolResultSchema, options)).toMatchObject(array);
    for (const list of ['listPrompts', 'listResources', 'listResourceTemplates'] as const)
      await handle[list]();
    await handle.readResource({ uri: 'a:b' });
    await handle.getPrompt({ name: 'p' });
    expect(await handle.callTool(wrong, CallToolResultSchema).catch((error) => error)).toMatchObject({
      name: 'ProtocolError',
      code: -32602,
    });
  });

  it('the options after a schema count', async () => {
    await using handle = await make();
    const signal = AbortSignal.abort(new Error('not wanted'));
    await expect(handle.callTool(primes, CallToolResultSchema, { signal })).rejects.toThrow('not wanted');
  });
});

it('a session of SDK v2 that is no client is asked by request(), and checks as its revision does', async () => {
  await using handle = supervisor.adoptSession('b', await bare());
  expect(await handle.listTools()).toMatchObject({ tools: [{ outputSchema: { type: 'array' } }, {}] });
  expect(await handle.readResource({ uri: 'a:b' })).toMatchObject({ contents: [{}] });
  expect(await handle.callTool(wrong)).toMatchObject({ structuredContent: ['a'] });
});
