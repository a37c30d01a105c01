// A server is replaced gently: the old process finishes the calls that it has begun, while new ones go to the new one.
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Connect, ConnectContext } from '../../src/index.ts';
import { OddServer, textResult } from '../support/odd-server.ts';
import {
  callTool,
  http,
  type Owned,
  type OwnedRecipe,
  own,
  type Settled,
  settled,
} from '../support/owned.ts';
import { connectV2 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

interface Held {
  readonly id: string | number;
  readonly res: ServerResponse;
  answer(): void;
}

let server: OddServer;
/** What the old process is still at. */
let held: Held[];
let forgotten: Set<unknown>;
let refusal: number | undefined;
beforeEach(async () => {
  held = [];
  forgotten = new Set();
  refusal = undefined;
  server = await new OddServer().start({
    first: (req, res, body) => {
      const session = req.headers['mcp-session-id'];
      if (req.method === 'POST' && refusal !== undefined && JSON.parse(body).method === 'initialize') {
        res.writeHead(refusal).end();
        return true;
      }
      if (req.method !== 'POST' || !forgotten.has(session)) return false;
      res.writeHead(404).end();
      return true;
    },
    answer: ({ id, message, json, events, res, req }) => {
      const how = message.params?.arguments?.how;
      if (how === undefined) return json(textResult(id));
      const send = how === 'sse' ? events() : json;
      held.push({
        id,
        res,
        answer: () => {
          send(textResult(id, 'late'));
          if (how === 'sse') res.end();
        },
      });
      sessionOf.set(res, req.headers['mcp-session-id']);
    },
  });
});
const sessionOf = new WeakMap<ServerResponse, unknown>();
afterEach(() => server[Symbol.asyncDispose]());

const v2: () => Connect = () =>
  (async ({ fetch }: ConnectContext) =>
    (await connectV2(server.url, 'legacy', { fetch })).client) as unknown as Connect;
const RECIPES: [string, () => OwnedRecipe][] = [
  ['v1', () => http(server.url)],
  ['v2', v2],
];
const SHORT = { timeouts: { drainTimeoutMs: 50 } };

async function longCall(owned: Owned, how: 'json' | 'sse'): Promise<{ settles: Promise<Settled> }> {
  const before = held.length;
  const settles = settled(callTool(owned, 't', { how }));
  await until(() => held.length > before, { what: 'the long call' });
  return { settles };
}

/** The server forgets the session, and a short call finds that out. */
async function roll(owned: Owned): Promise<void> {
  const { generation } = owned.handle;
  forgotten.add(sessionOf.get((held.at(-1) as Held).res));
  await callTool(owned, 't', {});
  expect(owned.handle.generation).toBe(generation + 1);
}

/** Longer than the drain. */
const pastTheDrain = () => new Promise((resolve) => setTimeout(resolve, 400));

describe.each(RECIPES)('%s', (_name, recipe) => {
  it.each(['json', 'sse'] as const)('the long call is answered: %s', async (how) => {
    await using owned = own(recipe(), SHORT);
    const { settles } = await longCall(owned, how);
    await roll(owned);
    await pastTheDrain();
    held[0]?.answer();
    expect((await settles).result).toMatchObject({ content: [{ text: 'late' }] });
    expect(held).toHaveLength(1);
  });

  it.each(['json', 'sse'] as const)('the old process dies in the midst: settled at once, %s', async (how) => {
    await using owned = own(recipe(), SHORT);
    const { settles } = await longCall(owned, how);
    await roll(owned);
    await pastTheDrain();
    held[0]?.res.destroy();
    expect((await settles).error).toMatchObject({ name: 'OutcomeUnknownError' });
  });

  it('close() ends it', async () => {
    await using owned = own(recipe(), SHORT);
    const { settles } = await longCall(owned, 'sse');
    await roll(owned);
    await owned.handle.close();
    expect((await settles).error).toMatchObject({ name: 'OutcomeUnknownError' });
  });

  it('four old generations are held; the fifth ends the oldest', async () => {
    await using owned = own(recipe(), SHORT);
    const calls: Promise<Settled>[] = [];
    for (let i = 0; i < 5; i++) {
      calls.push((await longCall(owned, 'sse')).settles);
      await roll(owned);
    }
    expect((await (calls[0] as Promise<Settled>)).error).toMatchObject({ name: 'OutcomeUnknownError' });
    await pastTheDrain();
    for (const each of held.slice(1)) each.answer();
    for (const call of calls.slice(1)) expect((await call).error).toBeUndefined();
  });

  it('reconnect(): the drain ends its calls', async () => {
    await using owned = own(recipe(), SHORT);
    const { settles } = await longCall(owned, 'sse');
    await owned.handle.reconnect();
    expect((await settles).error).toMatchObject({ name: 'OutcomeUnknownError' });
  });
});
