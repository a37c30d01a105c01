// What a page is told that comes late, or of names that are taken again; the stream is read without a browser.
import { expect, it } from 'vitest';
import type { Supervisor } from '../../src/index.ts';
import { servePage } from '../../src/inspect/page/serve-page.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { until } from '../support/until.ts';
import { closeAfterEach, look, opens, serve, supervise } from './opened.ts';

expectNoCrashes();

const LAZY = { connect: () => Promise.reject(new Error('never')), lazy: true } as const;
const APPEND = { name: 'append', arguments: { key: 'a' } };

closeAfterEach();

it('a name that is taken again before its last machine has told its end', async () => {
  const supervisor = supervise();
  const page = await serve(supervisor);
  const first = supervisor.own('files', LAZY);
  first.on('transition', ({ to }) => {
    if (to === 'closed') supervisor.own('files', LAZY);
  });
  await first.close();
  const { snapshot } = await look(page);
  expect(snapshot?.connections).toMatchObject([
    { connection: 'files', state: 'idle', path: 'idle', trail: [{ state: 'idle', event: '' }] },
  ]);
});

it('recoveries that last are all told, in the order in which they began, however many there are', async () => {
  const supervisor = supervise();
  const page = await serve(supervisor);
  const recovery = { initialBackoffMs: 600_000, maxBackoffMs: 600_000 };
  for (let n = 0; n < 150; n++) {
    supervisor.own(`c${n}`, { connect: () => Promise.reject(new Error('refused')), recovery });
  }
  const handles = [...supervisor.connections.values()];
  await until(() => handles.every(({ status }) => status.reason !== undefined));
  await handles[0]?.close();
  const recoveries = (await look(page)).snapshot?.recoveries ?? [];
  expect(recoveries.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
  expect(recoveries.filter(({ outcome }) => outcome === undefined)).toHaveLength(149);
});

it('an operation and a recovery that were under way when the page was served', async () => {
  const server = await FaultServer.start({ transport: 'stdio' });
  const supervisor = supervise();
  opens(server);
  const files = supervisor.own('files', { transport: server.target });
  await files.callTool(APPEND);
  await server.when('initialize', 'hold');
  await server.kill();
  await until(() => files.state === 'lost');
  const lost = files.status;
  const before = Date.now();
  const call = files.callTool(APPEND);
  call.catch(() => {});
  const after = Date.now();
  await until(() => files.state === 'recreating');
  await server.until('the handshake is held', ({ held }) => held === 1);
  const { since } = files.status;

  const onlooker = await look(await serve(supervisor));
  const { operations, recoveries } = onlooker.snapshot ?? {};
  expect(operations).toMatchObject([{ kind: 'tool', state: 'awaiting' }]);
  expect(operations?.[0]?.since).toBeGreaterThanOrEqual(before);
  expect(operations?.[0]?.since).toBeLessThanOrEqual(after);
  expect(recoveries).toEqual([
    expect.objectContaining({ cause: 'connection-closed', lostAt: lost.lastError?.at, wantedAt: since }),
  ]);
  expect(recoveries?.[0], 'nobody has counted').not.toHaveProperty('attempts');
  await server.when('initialize', 'answer');
  await call;
  const recovered = await until(() =>
    [...onlooker.recoveries.values()].find(({ outcome }) => outcome === 'recreated'),
  );
  expect(recovered).toMatchObject({ id: recoveries?.[0]?.id, lostAt: lost.lastError?.at, generation: 2 });
});

it('a recreation that the host asked for has nothing to do with an earlier loss', async () => {
  const server = await FaultServer.start();
  const supervisor = supervise();
  opens(server);
  const files = supervisor.own('files', { transport: server.target });
  await files.callTool(APPEND);
  await server.evict();
  await files.callTool(APPEND);
  await server.when('initialize', 'hold');
  const again = files.reconnect();
  again.catch(() => {});
  await until(() => files.state === 'recreating');
  const { since } = files.status;
  const { snapshot } = await look(await serve(supervisor));
  expect(snapshot?.recoveries).toMatchObject([{ cause: 'requested', lostAt: since, wantedAt: since }]);
  await server.when('initialize', 'answer');
  await again;
});

it('what is no supervisor of this package is refused, and its port is left', async () => {
  const before = await servePage(supervise());
  const port = Number(new URL(before.url).port);
  await before.close();
  await expect(servePage({} as Supervisor, { port })).rejects.toThrow('expected a supervisor');
  await serve(supervise(), { port });
});

it('only GET is a look', async () => {
  const supervisor = supervise();
  const page = await serve(supervisor);
  const events = new URL(page.url);
  events.pathname = '/events';
  expect((await fetch(events, { method: 'HEAD' })).status).toBe(404);
});
