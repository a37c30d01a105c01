/** Level 3: the routes that hosts get, walked on the library itself, against a real server in a real process. */
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createSupervisor, type Ownership } from '../../src/index.ts';
import { type Embed, FaultServer, type FaultTransport, recoveryRoutes } from '../../src/testing/index.ts';
import { type LIVE_RUNS, noteRun } from './last-run.ts';

/** The plainest host: a supervisor with one connection. */
function embed(ownership: Ownership): Embed {
  return ({ supervisor: options, own, client }) => {
    const supervisor = createSupervisor({ clientInfo: { name: 'test-host', version: '1.0.0' }, ...options });
    const connection =
      ownership === 'supervisor'
        ? supervisor.own('files', own)
        : ownership === 'caller-client'
          ? supervisor.adopt('files', client)
          : supervisor.adoptSession('files', client);
    return { connection, close: () => supervisor.close() };
  };
}

/** `share`: the first, second, … of so many. */
export function walkEveryRoute(
  name: (typeof LIVE_RUNS)[number],
  ownerships: readonly Ownership[],
  transport: FaultTransport,
  [share, shares]: readonly [number, number] = [1, 1],
): void {
  let server: FaultServer;
  const walked = new Set<unknown>();
  const passed = new Set<unknown>();
  const mine = (_: unknown, index: number) => index % shares === share - 1;
  const all = ownerships.map(
    (ownership) => [ownership, recoveryRoutes({ ownership, transport }).filter(mine)] as const,
  );
  const routes = all.reduce((sum, [, list]) => sum + list.length, 0);

  beforeAll(async () => {
    server = await FaultServer.start({ transport });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    // A run of some of them says nothing about all.
    if (walked.size === routes) noteRun(name, { routes, passed: passed.size });
  });

  describe.each(all)('%s', (ownership, list) => {
    it.each(list.map((route) => [route.name, route] as const))(
      '%s',
      { timeout: 60_000 },
      async (_name, route) => {
        walked.add(route);
        await route.run(embed(ownership), { server });
        passed.add(route);
      },
    );
  });
}
