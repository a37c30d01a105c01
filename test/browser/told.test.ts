// What a page is told of a host: real servers are killed, and the stream is read without a browser.
import { createConnection } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ConnectionHandle, OwnedConnection } from '../../src/index.ts';
import { servePage } from '../../src/inspect/page/serve-page.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { connectV1, type Target } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { eventsOf, type Onlooker } from './onlooker.ts';
import { closeAfterEach, look, opens, serve, supervise } from './opened.ts';
import { watchStreams } from './streams.ts';

expectNoCrashes();
const streams = watchStreams();

closeAfterEach();

/** Its server is a child process, so that its end is noticed in one way only. */
async function host() {
  const server = await FaultServer.start({ transport: 'stdio' });
  const supervisor = supervise();
  const files = supervisor.own('files', { transport: server.target, recovery: { initialBackoffMs: 1 } });
  opens(server);
  await append(files);
  const page = await serve(supervisor);
  return { server, supervisor, files, page };
}

/** Kills the server; resolves when the connection has noticed. */
async function lose(server: FaultServer, connection: ConnectionHandle): Promise<void> {
  await server.kill();
  await until(() => connection.state !== 'ready', { what: 'the loss' });
}

function append(connection: OwnedConnection, options?: { timeout: number }): Promise<unknown> {
  return connection.callTool({ name: 'append', arguments: { key: 'a' } }, options);
}

const settled = (onlooker: Onlooker, outcome: string) =>
  until(() => [...onlooker.recoveries.values()].find((each) => each.outcome === outcome), { what: outcome });

it('what is there when the page is served is in the first snapshot', async () => {
  const { page } = await host();
  const { snapshot } = await look(page);
  expect(snapshot?.connections).toMatchObject([
    { connection: 'files', state: 'ready', path: 'ready.steady', generation: 1, inFlight: 0, waiting: 0 },
  ]);
  expect(snapshot?.controls).toEqual([]);
});

it('a loss and its recovery: each state in order, and one recovery', async () => {
  const { server, files, page } = await host();
  const onlooker = await look(page);
  await lose(server, files);
  await append(files);
  expect(await settled(onlooker, 'recreated')).toMatchObject({
    connection: 'files',
    cause: 'connection-closed',
    attempts: 1,
    generation: 2,
  });
  expect(onlooker.recoveries.size).toBe(1);
  const ofConnection = onlooker.steps.filter(({ machine }) => machine === 'connection');
  expect(ofConnection.flatMap(({ path }) => path)).toEqual([
    'lost',
    'recreating.backingOff',
    'recreating.retiring',
    'recreating.opening',
    'ready.steady',
  ]);
  await until(() => onlooker.pathsOf('files').at(-1) === 'ready.steady');
});

it('the way that a connection took begins where it rested', async () => {
  const { server, files, page } = await host();
  for (let losses = 0; losses < 2; losses++) {
    await lose(server, files);
    await append(files);
  }
  const { snapshot } = await look(page);
  expect(snapshot?.connections[0]?.trail).toEqual([
    { state: 'ready.steady', event: '' },
    { state: 'lost', event: 'lost' },
    { state: 'recreating.backingOff', event: 'demand' },
    { state: 'recreating.retiring', event: 'always' },
    { state: 'recreating.opening', event: 'retire done' },
    { state: 'ready.steady', event: 'open done' },
  ]);
});

it('an operation that waited, and one whose outcome is not known', async () => {
  const { server, files, page } = await host();
  const onlooker = await look(page);
  await lose(server, files);
  await append(files);
  await server.when('tools/call', 'lose-answer');
  await append(files).catch(() => {});
  await until(() => [...onlooker.operations.values()].some(({ state }) => state === 'unknown-outcome'));
  expect([...onlooker.operations.values()]).toMatchObject([
    { connection: 'files', kind: 'tool', state: 'answered', sends: 1, endedAt: expect.any(Number) },
    { kind: 'tool', state: 'unknown-outcome', sends: 1, cause: 'connection-closed', execution: 'unknown' },
  ]);
});

it('a budget that is spent', async () => {
  const { server, files, page } = await host();
  const onlooker = await look(page);
  await server.when('initialize', 'forbid');
  await lose(server, files);
  await append(files).catch(() => {});
  expect(await settled(onlooker, 'exhausted')).toMatchObject({ cause: 'connection-closed', attempts: 1 });
  const [view] = (await look(page)).snapshot?.connections ?? [];
  expect(view).toMatchObject({ path: 'exhausted.cooling', action: expect.stringContaining('cool-down') });
});

it('a caller’s connection is not recovered but given back', async () => {
  const { server, supervisor, page } = await host();
  const raw = await connectV1(server.target as unknown as Target);
  opens(raw);
  const mine = supervisor.adopt('mine', raw.client);
  const onlooker = await look(page);
  await lose(server, mine);
  expect(await settled(onlooker, 'given-back')).toMatchObject({ connection: 'mine', attempts: 0 });
});

it('operations in flight and waiting are counted without a step that tells', async () => {
  const { server, files, page } = await host();
  const onlooker = await look(page);
  await server.when('tools/call', 'hold');
  const calls = [append(files), append(files)];
  const counts = () =>
    onlooker.changes.flatMap(({ connections }) => connections).map(({ inFlight }) => inFlight);
  await until(() => counts().at(-1) === 2);
  await server.when('tools/call', 'answer');
  await Promise.all(calls);
  await until(() => counts().at(-1) === 0);
  expect(onlooker.steps, 'calls that simply succeed have no machine').toEqual([]);
});

it('since when a connection is suspect, until it answers', async () => {
  const { server, files, page } = await host();
  const onlooker = await look(page);
  const views = () => onlooker.changes.flatMap(({ connections }) => connections);
  await server.when('tools/call', 'ignore');
  await server.when('ping', 'hold');
  const before = Date.now();
  const call = append(files, { timeout: 50 }).catch(() => {});
  await server.until('the probe is held', ({ held }) => held === 1);
  const { suspectSince } = await until(() => views().find((view) => view.suspectSince !== undefined));
  expect(suspectSince).toBeGreaterThanOrEqual(before);
  expect(suspectSince).toBeLessThanOrEqual(Date.now());
  await server.when('ping', 'answer');
  await call;
  await until(() => views().at(-1)?.path === 'ready.steady');
  expect(views().at(-1)).not.toHaveProperty('suspectSince');
});

it('a heartbeat that is under way makes no connection suspect', async () => {
  const { server, supervisor, page } = await host();
  const beating = { transport: server.target, liveness: { heartbeatMs: 20, probeTimeoutMs: 600_000 } };
  await append(supervisor.own('beating', beating));
  const onlooker = await look(page);
  await server.when('ping', 'hold');
  await until(() => onlooker.pathsOf('beating').at(-1) === 'ready.probing');
  await server.until('the heartbeat is held', ({ held }) => held === 1);
  const views = onlooker.changes.flatMap(({ connections }) => connections);
  expect(views.map(({ suspectSince }) => suspectSince)).toEqual(views.map(() => undefined));
});

it('a connection that was closed is told as closed', async () => {
  const { files, page } = await host();
  const onlooker = await look(page);
  await files.close();
  await until(() => onlooker.pathsOf('files').at(-1) === 'closed');
  const [view] = (await look(page)).snapshot?.connections ?? [];
  expect(view).toMatchObject({ state: 'closed', ownership: 'supervisor', generation: 1, inFlight: 0 });
});

it('two who look on know the same, whenever they came', async () => {
  const { server, files, page } = await host();
  const first = await look(page);
  await lose(server, files);
  const call = append(files);
  const second = await look(page);
  await call;
  const last = ({ snapshot, changes }: Onlooker) => {
    const views = [...(snapshot?.connections ?? []), ...changes.flatMap(({ connections }) => connections)];
    return views.at(-1)?.path;
  };
  await until(() => last(first) === 'ready.steady' && last(second) === 'ready.steady');
  const heard = ({ snapshot, changes }: Onlooker) =>
    [...(snapshot?.steps ?? []), ...changes.flatMap(({ steps }) => steps)].map(({ n }) => n);
  await until(() => heard(first).at(-1) === heard(second).at(-1));
  for (const numbers of [heard(first), heard(second)]) {
    expect(numbers, 'each step once, none left out').toEqual(numbers.map((_, index) => index + 1));
  }
});

describe('while nobody looks on', () => {
  it('the last thousand steps are kept, and no more', async () => {
    const supervisor = supervise();
    const page = await serve(supervisor);
    const lazy = { connect: () => Promise.reject(new Error('never')), lazy: true } as const;
    for (let n = 0; n < 1_250; n++) await supervisor.own(`c${n}`, lazy).close();
    const { snapshot } = await look(page);
    expect(snapshot?.steps).toHaveLength(1_000);
    expect(snapshot?.steps.at(-1)).toMatchObject({ connection: 'c1249', to: 'closed' });
    expect(snapshot?.connections.map(({ connection }) => connection)).toEqual(
      Array.from({ length: 50 }, (_, index) => `c${1_200 + index}`),
    );
  });
});

it('one that does not read is cut off', async () => {
  const supervisor = supervise();
  const page = await serve(supervisor);
  const { port, pathname, search } = eventsOf(page.url);
  const socket = createConnection(Number(port), '127.0.0.1').pause();
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  const stream = await until(() => streams().find(({ destroyed }) => !destroyed));
  const lazy = { connect: () => Promise.reject(new Error('never')), lazy: true } as const;
  const long = 'name'.repeat(500);
  const flood = async () => {
    for (let n = 0; n < 50; n++) await supervisor.own(`${long}${n}`, lazy).close();
    return stream.destroyed;
  };
  await until(flood, { timeoutMs: 15_000, what: 'the end of its stream' });
  const others = await look(page);
  expect(others.snapshot?.connections.length, 'others are served').toBeGreaterThan(0);
  socket.destroy();
});

it('after close() nothing listens, and the supervisor goes on', async () => {
  const { files, page } = await host();
  const onlooker = await look(page);
  await page.close();
  await page.close();
  await expect(fetch(page.url)).rejects.toThrow();
  await append(files);
  expect(onlooker.steps).toEqual([]);
});

it('a port that is taken is refused', async () => {
  const { supervisor, page } = await host();
  await expect(servePage(supervisor, { port: Number(new URL(page.url).port) })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});
