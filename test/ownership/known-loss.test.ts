// A loss that is known before anyone asks (a child that was killed, a connection that closed, a client that its
// caller closed): not one request, of any kind.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVERY_OPERATION } from '../support/every-operation.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import type { Ledger } from '../support/ledger.ts';
import {
  type CallersClient,
  callersClient,
  expectNothingUntrue,
  expectOwnershipError,
  lend,
  overheard,
  ownershipOf,
  rejection,
  type Supply,
} from '../support/lent.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

/** `hears`: false for an object without hooks, whose loss shows with the next operation. */
async function everyOperationIsRefused(
  supply: Supply,
  mine: CallersClient,
  ledger: Ledger,
  lose: () => unknown,
) {
  const { supervisor, said, listen } = overheard();
  const handle = lend(supervisor, 'mine', supply, mine);
  listen(handle);
  await handle.callTool({ name: 'append', arguments: { key: 'before' } });
  const before = ledger.events();
  await lose();
  const hears = supply !== 'bare session';
  if (hears) await until(() => handle.state === 'failed-ownership', { what: 'the loss' });
  else await until(() => mine.client.transport === undefined, { what: 'the loss' });

  let first = !hears;
  for (const operation of EVERY_OPERATION) {
    const error = await rejection(operation.call(handle));
    const ran = first ? 'unrun' : 'unsent';
    expectOwnershipError(error, { name: 'mine', ownership: ownershipOf(supply), ...operation, ran });
    first = false;
  }
  expect(handle.status).toMatchObject({ state: 'failed-ownership', generation: 1, inFlight: 0, waiting: 0 });
  expect(handle.status.action).toContain('replace()');
  await supervisor.close();
  const after = ledger.events().slice(before.length);
  expect(after.filter(({ event }) => event !== 'get')).toEqual([]);
  expect(mine.touched).toEqual([]);
  expectNothingUntrue(said);
}

describe('a stdio child that was killed', () => {
  it.each<Supply>(['v1 client', 'v2 client', 'v1 session', 'v2 session', 'bare session'])(
    '%s',
    async (supply) => {
      await using server = stdioServer();
      await using mine = await callersClient(supply, server);
      await everyOperationIsRefused(supply, mine, server.ledger, () =>
        process.kill(server.server(), 'SIGKILL'),
      );
      expect(server.ledger.count('spawn')).toBe(1);
    },
  );
});

describe('an in-memory connection that its server closed', () => {
  it.each<Supply>(['v1 client', 'v2 client', 'v1 session', 'v2 session', 'bare session'])(
    '%s',
    async (supply) => {
      await using server = new MemoryServer();
      await using mine = await callersClient(supply, server);
      await everyOperationIsRefused(supply, mine, server.ledger, () => server.close());
    },
  );
});

describe('a client that its caller closed', () => {
  let http: TestServer;
  let sse: TestServer;
  let modern: TestServer;
  beforeAll(async () => {
    [http, sse, modern] = await Promise.all([
      startServer(),
      startServer({ transport: 'sse' }),
      startServer({ transport: 'modern' }),
    ]);
  });
  afterAll(() => Promise.all([http, sse, modern].map((server) => server[Symbol.asyncDispose]())));

  it.each<[string, Supply]>([
    ['Streamable HTTP', 'v1 client'],
    ['Streamable HTTP', 'v2 client'],
    ['Streamable HTTP', 'v1 session'],
    ['Streamable HTTP', 'v2 session'],
    ['Streamable HTTP', 'bare session'],
    ['legacy SSE', 'v1 client'],
    ['legacy SSE', 'v2 session'],
    ['revision 2026-07-28', '2026 client'],
    ['revision 2026-07-28', '2026 session'],
  ])('%s, %s', async (where, supply) => {
    const server = where === 'Streamable HTTP' ? http : where === 'legacy SSE' ? sse : modern;
    await using mine = await callersClient(supply, server);
    await everyOperationIsRefused(supply, mine, server.ledger, () => mine.close());
  });
});

describe('a legacy SSE stream that ended with its server', () => {
  it.each<Supply>(['v1 client', 'v2 client', 'v1 session'])('%s', async (supply) => {
    await using server = await startServer({ transport: 'sse' });
    await using mine = await callersClient(supply, server);
    await everyOperationIsRefused(supply, mine, server.ledger, () => server.kill());
  });
});
