// A caller-owned HTTP session that the server has forgotten, found out by each operation of each kind:
// one request, then none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationKind } from '../../machines/vocabulary.ts';
import { EVERY_OPERATION } from '../support/every-operation.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import {
  callersClient,
  expectNothingUntrue,
  expectOwnershipError,
  lend,
  overheard,
  ownershipOf,
  rejection,
  SUPPLIES,
  type Supply,
} from '../support/lent.ts';

const VENUES: { name: string; options: Parameters<typeof startServer>[0]; supplies: readonly Supply[] }[] = [
  { name: 'Streamable HTTP, SSE answers', options: { answers: 'sse' }, supplies: SUPPLIES },
  {
    name: 'Streamable HTTP, JSON answers',
    options: { answers: 'json' },
    supplies: ['v1 client', 'v2 session'],
  },
  { name: 'legacy SSE', options: { transport: 'sse' }, supplies: ['v1 client', 'v2 client', 'v1 session'] },
];

/** From revision 2026-07-28 on. */
const MAY_TAKE_SEVERAL: readonly OperationKind[] = ['tool', 'prompt', 'resource'];

describe.each(VENUES)('$name', ({ options, supplies }) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(options);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const rows = supplies.flatMap((supply) => EVERY_OPERATION.map((operation) => ({ supply, operation })));

  it.each(rows)('$supply: $operation.method finds the loss', async ({ supply, operation }) => {
    await using mine = await callersClient(supply, server);
    const { supervisor, said, listen } = overheard();
    const handle = lend(supervisor, 'mine', supply, mine);
    listen(handle);
    const stranger = { name: 'mine', ownership: ownershipOf(supply) };
    await server.evict(undefined, { silent: true });
    server.ledger.clear();

    const error = await rejection(operation.call(handle));

    // How many requests were made of this call is not to be seen: an earlier one may have run.
    const mayBeSeveral = supply === 'bare session' && MAY_TAKE_SEVERAL.includes(operation.kind);
    expectOwnershipError(error, { ...stranger, ...operation, ran: mayBeSeveral ? 'unknown' : 'unrun' });
    expect(mine.thrown).toContain(error.cause ?? 'no cause');
    expect(server.ledger.events('request').map(({ method }) => method)).toEqual([operation.method]);
    expect(handle.state).toBe('failed-ownership');

    for (const later of EVERY_OPERATION) {
      expectOwnershipError(await rejection(later.call(handle)), { ...stranger, ...later, ran: 'unsent' });
    }
    expect(server.ledger.count('request')).toBe(1);
    expect(server.ledger.initializes()).toBe(0);
    expect(server.ledger.deletes()).toBe(0);
    expect(server.ledger.runs()).toBe(0);
    expect(mine.touched).toEqual([]);
    expect(mine.client.transport).toBe(mine.transport);
    expectNothingUntrue(said);
    await supervisor.close();
    expect(mine.touched).toEqual([]);
    expect(server.ledger.count('request')).toBe(1);
    expect(server.ledger.deletes()).toBe(0);
  });
});
