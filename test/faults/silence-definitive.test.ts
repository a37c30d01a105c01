// What is definitive is looked for while calls are in flight too: no call that is slow may hide a session that is gone.
import { describe, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { type ServerOptions, startServer } from '../support/http-server.ts';
import { callersClient, expectOwnershipError, overheard, rejection } from '../support/lent.ts';
import { callTool, expectEnding, type OwnedRecipe, own, settled } from '../support/owned.ts';
import { connectV2 } from '../support/raw-client.ts';
import { lossOf } from '../support/silence.ts';
import { startRelay } from '../support/tcp-relay.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const WAYS: [string, ServerOptions, (url: URL) => OwnedRecipe][] = [
  ['HTTP, SSE answers', {}, (url) => ({ kind: 'http', url })],
  ['HTTP, JSON answers', { answers: 'json' }, (url) => ({ kind: 'http', url })],
  ['legacy SSE', { transport: 'sse' }, (url) => ({ kind: 'sse', url })],
  [
    'HTTP, SDK v2',
    {},
    (url) =>
      async ({ fetch }) =>
        (await connectV2(url, 'legacy', { fetch: fetch as never })).client as never,
  ],
];

/** Heartbeats, and nothing that silence could prove. */
const SETTINGS = { liveness: { heartbeatMs: 50, silenceMs: 60_000 }, timeouts: { drainTimeoutMs: 500 } };

describe.concurrent.each(WAYS)('%s, a call in flight', (_way, options, recipe) => {
  it('a heartbeat that brings 404 is a loss', async () => {
    await using server = await startServer(options);
    await using owned = own(recipe(server.url), SETTINGS);
    await owned.ready();
    const slow = settled(callTool(owned, 'hang', { key: 'slow' }, 60_000));
    await until(() => server.ledger.runs('slow') === 1);
    const lost = lossOf(owned);
    await server.evict(undefined, { silent: true });
    expect(await lost).toMatchObject({ cause: 'session-unknown' });
    await callTool(owned, 'append', { key: 'next' });
    expect(owned.handle.generation).toBe(2);
    // Over Streamable HTTP its exchange is open, and it keeps its own time.
    await owned.handle.close();
    expectEnding(await slow, { unknown: ['connection-closed', 'answer-lost'] });
    expect([server.ledger.runs('slow'), server.ledger.runs('next')]).toEqual([1, 1]);
  });

  it('so is one that is refused', async () => {
    await using server = await startServer(options);
    await using relay = await startRelay(server.port);
    const url = new URL(server.url);
    url.port = String(relay.port);
    await using owned = own(recipe(url), SETTINGS);
    await owned.ready();
    const slow = settled(callTool(owned, 'hang', { key: 'the slow one' }, 60_000));
    await until(() => server.ledger.runs('the slow one') === 1);
    const lost = lossOf(owned);
    // Legacy SSE lives for as long as its stream does.
    const kept = options.transport === 'sse' ? 'GET /sse' : 'the slow one';
    await relay.refuse(kept);
    expect(await lost).toMatchObject({ cause: 'unreachable' });
    await owned.handle.close();
    expect((await slow).error).toMatchObject({ code: 'outcome-unknown' });
    expect(server.ledger.runs('the slow one')).toBe(1);
  });
});

describe.concurrent.each(['v1 client', 'v2 client', 'v1 session'] as const)(
  '%s, a call in flight',
  (supply) => {
    it('a heartbeat that brings 404 is a loss, and nothing is touched', async () => {
      await using server = await startServer();
      await using mine = await callersClient(supply, server);
      const { supervisor } = overheard();
      const liveness = { heartbeatMs: 50 };
      const handle =
        supply === 'v1 session'
          ? supervisor.adoptSession('mine', mine.client as never, { liveness })
          : supervisor.adopt('mine', mine.client as never, { liveness });
      const slow = settled(handle.callTool({ name: 'hang', arguments: { key: 'slow' } }, undefined, {}));
      await until(() => server.ledger.runs('slow') === 1);
      await server.evict(undefined, { silent: true });
      await until(() => handle.state === 'failed-ownership', { what: 'the loss' });
      expect(handle.status).toMatchObject({ inFlight: 1, reason: 'session-unknown' });
      expectOwnershipError(await rejection(handle.listTools()), {
        name: 'mine',
        ownership: supply === 'v1 session' ? 'caller-session' : 'caller-client',
        method: 'tools/list',
        kind: 'discovery',
        ran: 'unsent',
      });
      expect(mine.touched).toEqual([]);
      await mine.close();
      await slow;
      await supervisor.close();
    });
  },
);
