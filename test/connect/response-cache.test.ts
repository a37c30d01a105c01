// A host gives every client the same store of answers: what a generation listed is not served to the next one.
import {
  Client,
  InMemoryResponseCacheStore,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import type { Connect, ConnectContext } from '../../src/index.ts';
import { OddServer } from '../support/odd-server.ts';
import { own } from '../support/owned.ts';

it('lists are asked for again after a recreation, and not before', async () => {
  let tool = 'old';
  const complete = { resultType: 'complete', cacheScope: 'public', ttlMs: 3_600_000 };
  await using server = await new OddServer().start({
    first: (_req, res, body) => {
      const { id, method } = JSON.parse(body);
      const discovered = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };
      const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'same', version: '1' } };
      const listed = { tools: [{ name: tool, inputSchema: { type: 'object' } }] };
      const result = { ...complete, _meta, ...(method === 'tools/list' ? listed : discovered) };
      res.writeHead(200, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      return true;
    },
  });
  const responseCacheStore = new InMemoryResponseCacheStore();
  const connect = async ({ fetch }: ConnectContext) => {
    const client = new Client(
      { name: 'host', version: '1.0.0' },
      { responseCacheStore, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    await client.connect(new StreamableHTTPClientTransport(server.url, { fetch }));
    return client;
  };
  await using owned = own(connect as unknown as Connect);
  const names = async () => (await owned.handle.listTools()).tools.map(({ name }) => name);
  expect(await names()).toEqual(['old']);
  tool = 'new';
  // So the store is used.
  expect(await names()).toEqual(['old']);
  await owned.handle.reconnect();
  expect(await names()).toEqual(['new']);
  expect(server.count('tools/list')).toBe(2);
});
