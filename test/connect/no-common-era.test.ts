// A dial that the server's answer decides against is not tried again; one that the wire or a passing state ended is.
import { describe, expect, it } from 'vitest';
import type { Connect, ConnectContext } from '../../src/index.ts';
import { OddServer } from '../support/odd-server.ts';
import { callTool, http, type OwnedRecipe, own, settled } from '../support/owned.ts';
import { connectV2 } from '../support/raw-client.ts';

type Answer = { status: number; code?: number; message?: string } | 'cut';

/** How often it was dialled, and what the call was told. */
async function dialled(recipe: (url: URL) => OwnedRecipe, answer: Answer) {
  let dials = 0;
  await using server = await new OddServer().start({
    first: (req, res, body) => {
      if (req.method !== 'POST') return false;
      dials++;
      if (answer === 'cut') req.socket.destroy();
      else {
        const { status, code, message = 'no' } = answer;
        const error = { jsonrpc: '2.0', id: JSON.parse(body).id, error: { code, message } };
        res.writeHead(status, { 'content-type': 'application/json' });
        res.end(code === undefined ? '' : JSON.stringify(error));
      }
      return true;
    },
  });
  await using owned = own(recipe(server.url), { recovery: { maxAttempts: 3, coolDownMs: 60_000 } });
  const { error } = await settled(callTool(owned, 't', {}));
  return { dials, error };
}

const pinned = (url: URL) =>
  (async ({ fetch }: ConnectContext) =>
    (await connectV2(url, '2026-07-28', { fetch })).client) as unknown as Connect;
const legacy = (url: URL) =>
  (async ({ fetch }: ConnectContext) =>
    (await connectV2(url, 'legacy', { fetch })).client) as unknown as Connect;

describe.each([
  ['v1', http],
  ['v2', legacy],
  ['v2, pinned', pinned],
])('%s', (name, recipe) => {
  it.each([-32601, -32602, -32600, -32022])('%i to the handshake is told at once', async (code) => {
    const { dials, error } = await dialled(recipe, { status: 200, code });
    expect(error).toMatchObject({ name: 'ConnectionUnavailableError', evidence: { cause: 'incompatible' } });
    expect(dials).toBe(1);
    if (name === 'v2, pinned' && code !== -32022) {
      expect(String((error as Error).cause)).toContain('2026-07-28');
    }
  });

  it.each([-32601, -32602, -32022])('%i in a 400, too', async (code) => {
    const { dials, error } = await dialled(recipe, { status: 400, code });
    expect(error).toMatchObject({ name: 'ConnectionUnavailableError', evidence: { cause: 'incompatible' } });
    expect(dials).toBe(1);
  });

  it.each([500, 503, 429, 'cut'] as const)('%s is tried again', async (answer) => {
    const { dials, error } = await dialled(recipe, answer === 'cut' ? answer : { status: answer });
    expect(error).toMatchObject({ name: 'ConnectionUnavailableError' });
    expect((error as { evidence: { cause: string } }).evidence.cause).not.toBe('incompatible');
    expect(dials).toBeGreaterThanOrEqual(3);
  });

  it('401 is as before', async () => {
    const { dials, error } = await dialled(recipe, { status: 401 });
    expect(error).toMatchObject({ evidence: { cause: 'unauthorized' } });
    expect(dials).toBe(1);
  });
});
