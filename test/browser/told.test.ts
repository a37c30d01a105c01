// What a page is told of a host: real servers are killed, and the stream is read without a browser.
import { afterEach, describe, expect, it } from 'vitest';
import { createSupervisor, type OwnedConnection, type Supervisor } from '../../src/index.ts';
import { type Page, servePage } from '../../src/inspect/page/serve-page.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { connectV1 } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import { eventsOf, Onlooker } from './onlooker.ts';
import { watchStreams } from './streams.ts';

expectNoCrashes();
const streams = watchStreams();

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

function supervise(): Supervisor {
  const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  opened.push(supervisor);
  return supervisor;
}

async function host() {
  const server = await FaultServer.start();
  const supervisor = supervise();
  const files = supervisor.own('files', { transport: server.target, recovery: { initialBackoffMs: 1 } });
  opened.push(server);
  await append(files);
  const page = await servePage(supervisor);
  opened.push(page);
  return { server, supervisor, files, page };
}

async function look(page: Page): Promise<Onlooker> {
  const onlooker = await Onlooker.of(page);
  opened.push(onlooker);
  return onlooker;
}

function append(connection: OwnedConnection): Promise<unknown> {
  return connection.callTool({ name: 'append', arguments: { key: 'a' } });
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

it('a loss and its recovery: states in order, one recovery, one operation', async () => {
  const { server, files, page } = await host();
  const onlooker = await look(page);
  await server.restart();
  await append(files);
  expect(await settled(onlooker, 'recreated')).toMatchObject({
    connection: 'files',
    cause: 'session-unknown',
    attempts: 1,
    generation: 2,
  });
  expect(onlooker.recoveries.size).toBe(1);
  const ofConnection = onlooker.steps.filter(
    ({ machine, path }) => machine === 'connection' && path.length > 0,
  );
  expect(ofConnection.flatMap(({ path }) => path)).toEqual([
    'lost',
    'recreating.backingOff',
    'recreating.opening',
    'ready.steady',
  ]);
  expect(onlooker.pathsOf('files').at(-1)).toBe('ready.steady');
  await until(() => [...onlooker.operations.values()].some(({ state }) => state === 'answered'));
  expect([...onlooker.operations.values()]).toMatchObject([
    { connection: 'files', kind: 'tool', sends: 2, cause: 'session-unknown', execution: 'none' },
  ]);
});

it('the way that a connection took begins where it rested', async () => {
  const { server, files, page } = await host();
  await server.restart();
  await append(files);
  const { snapshot } = await look(page);
  expect(snapshot?.connections[0]?.trail).toEqual([
    { state: 'ready.steady', event: '' },
    { state: 'lost', event: 'lost' },
    { state: 'recreating.backingOff', event: 'always' },
    { state: 'recreating.opening', event: 'after backoff' },
    { state: 'ready.steady', event: 'open done' },
  ]);
});

it('a budget that is spent', async () => {
  const { server, files, page } = await host();
  const onlooker = await look(page);
  await server.when('initialize', 'forbid');
  await server.restart();
  await append(files).catch(() => {});
  const recovery = await settled(onlooker, 'exhausted');
  expect(recovery).toMatchObject({ cause: 'session-unknown', lastCause: 'unauthorized', attempts: 1 });
  const [view] = (await look(page)).snapshot?.connections ?? [];
  expect(view).toMatchObject({ path: 'exhausted.cooling', action: expect.stringContaining('credentials') });
});

it('a caller’s connection is not recovered but given back', async () => {
  const { server, supervisor, page } = await host();
  const raw = await connectV1(new URL((server.target as { url: string }).url));
  opened.push(raw);
  const mine = supervisor.adopt('mine', raw.client);
  const onlooker = await look(page);
  await server.restart();
  await mine.callTool({ name: 'append', arguments: { key: 'a' } }).catch(() => {});
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
  await server.restart();
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
    const page = await servePage(supervisor);
    opened.push(page);
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
  const page = await servePage(supervisor);
  opened.push(page);
  const { body } = await fetch(eventsOf(page.url));
  const stream = streams().at(-1);
  const lazy = { connect: () => Promise.reject(new Error('never')), lazy: true } as const;
  const long = 'name'.repeat(5_000);
  const flood = async () => {
    for (let n = 0; n < 50; n++) await supervisor.own(`${long}${n}`, lazy).close();
    return stream?.destroyed;
  };
  await until(flood, { timeoutMs: 15_000, what: 'the end of its stream' });
  const others = await look(page);
  expect(others.snapshot?.connections.length, 'others are served').toBeGreaterThan(0);
  await body?.cancel().catch(() => {});
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
