// A server that has moved to another address is not dialled again and again: the error says where it is now.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connect, type ConnectContext, createSupervisor } from '../../src/index.ts';
import { type FaultProxy, startProxy } from '../support/fault-proxy.ts';
import { settled } from '../support/owned.ts';
import { connectV1, connectV2 } from '../support/raw-client.ts';

let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startProxy(9);
});
afterAll(() => proxy[Symbol.asyncDispose]());

const SECRETS = '?token=hush-query#hush-hash';

const RECIPES: [string, () => object][] = [
  ['transport', () => ({ transport: { kind: 'http', url: proxy.url() } })],
  ['connect, SDK v1', () => ({ connect: connectWith(connectV1) })],
  ['connect, SDK v2', () => ({ connect: connectWith((url, options) => connectV2(url, 'legacy', options)) })],
];

function connectWith(connect: (url: URL, options: object) => Promise<{ client: unknown }>): Connect {
  return (async ({ fetch }: ConnectContext) => (await connect(proxy.url(), { fetch })).client) as Connect;
}

const TARGETS: [string, () => string, () => string][] = [
  [
    'another host',
    () => `https://me:hush-password@elsewhere.example/mcp${SECRETS}`,
    () => 'https://elsewhere.example/mcp',
  ],
  [
    'https',
    () => `https://127.0.0.1:${proxy.port}/mcp${SECRETS}`,
    () => `https://127.0.0.1:${proxy.port}/mcp`,
  ],
  ['another port', () => `http://127.0.0.1:1/mcp${SECRETS}`, () => 'http://127.0.0.1:1/mcp'],
];

describe.each(RECIPES)('%s', (_recipe, recipe) => {
  it.each(
    TARGETS.flatMap(([to, location, shown]) =>
      [301, 302, 303, 307, 308].map((status) => [status, to, location, shown] as const),
    ),
  )('%i to %s: permanent, and told where to', async (status, _to, location, shown) => {
    proxy.reset();
    proxy.always('initialize', {
      kind: 'answer',
      status,
      forwarded: false,
      headers: { location: location() },
    });
    const before = proxy.posts('initialize');
    await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
    const handle = supervisor.own('moved', recipe() as never);
    const { error } = await settled(handle.listTools());
    expect(error).toMatchObject({ why: 'permanent', evidence: { cause: 'redirected', execution: 'none' } });
    expect(String(error)).toContain(`It redirects to ${shown()}.`);
    expect(String(error)).not.toContain('hush');
    expect(handle.status).toMatchObject({ state: 'exhausted', reason: 'redirected' });
    expect(proxy.posts('initialize') - before).toBe(1);
    expect(String((await settled(handle.ready())).error)).toContain(shown());
  });
});
