/** `createSupervisor({ inspect })`: any observer, and whatever it does, no call suffers. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createInspector, type StatelyInspectionEvent } from '@statelyai/inspect';
import { expect, it, vi } from 'vitest';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { deferredObserver } from '../../src/deferred-observer.ts';
import { createSupervisor, type InspectionObserver } from '../../src/index.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

/** One call, a loss, and one more call that has to be sent again. */
async function loseASession(inspect: InspectionObserver | undefined) {
  await using server = await FaultServer.start();
  const errors: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (_: object, text: string) => errors.push(text) };
  await using supervisor = createSupervisor({
    clientInfo: { name: 'host', version: '1.0.0' },
    inspect,
    logger,
  });
  const files = supervisor.own('files', { transport: server.target });
  await files.callTool({ name: 'append', arguments: { key: 'a' } });
  await server.evict();
  await files.callTool({ name: 'append', arguments: { key: 'b' } });
  const { executions, initializes } = server.counts();
  return { executions, initializes, generation: files.generation, errors };
}

const RECOVERED = { executions: { a: 1, b: 1 }, initializes: 2, generation: 2 };

it('a function is told of every machine, in order', async () => {
  const events: InspectionEvent[] = [];
  expect(await loseASession((event) => void events.push(event))).toMatchObject({ ...RECOVERED, errors: [] });
  const actors = events.filter(({ type }) => type === '@xstate.actor').map(({ actorRef }) => actorRef);
  expect(actors.map((actor) => (actor as AnyActorRef).id)).toEqual(
    expect.arrayContaining(['files', 'files: tool']),
  );
  const values = events.flatMap((event) => {
    if (event.type !== '@xstate.snapshot' || event.actorRef !== actors[0]) return [];
    return [JSON.stringify((event.snapshot as unknown as { value: unknown }).value)];
  });
  expect(values.at(0)).toBe('{"connecting":"opening"}');
  await expect.poll(() => values).toContain('{"recreating":"opening"}');
});

it('an observer with next() is told too', async () => {
  const next = vi.fn();
  expect(await loseASession({ next })).toMatchObject(RECOVERED);
  expect(next).toHaveBeenCalled();
});

it('so is an inspector of @statelyai/inspect', async () => {
  const sent: StatelyInspectionEvent[] = [];
  const inspector = createInspector({ send: (event) => void sent.push(event) });
  expect(await loseASession(inspector.inspect)).toMatchObject(RECOVERED);
  const named = () => sent.flatMap((event) => (event.type === '@xstate.actor' ? [event.name] : []));
  await expect.poll(() => named()).toEqual(expect.arrayContaining(['files', 'files: tool']));
});

it('one that throws at everything breaks nothing, and is spoken of once', async () => {
  const ends = await loseASession(() => {
    throw new Error('observer');
  });
  expect(ends).toMatchObject({ ...RECOVERED, errors: ['The inspect observer threw'] });
});

it('one whose promise rejects breaks nothing, and is spoken of once', async () => {
  const ends = await loseASession((async () => {
    throw new Error('observer');
  }) as () => void);
  expect(ends).toMatchObject({ ...RECOVERED, errors: ['The inspect observer threw'] });
});

it('is never run in the middle of a call: one that is slow lets a dial begin first', async () => {
  await using server = await FaultServer.start();
  let told = 0;
  await using supervisor = createSupervisor({
    clientInfo: { name: 'host', version: '1.0.0' },
    inspect: () => void told++,
  });
  const files = supervisor.own('files', { transport: server.target });
  expect(files.state).toBe('connecting');
  expect(told).toBe(0);
  await expect.poll(() => told).toBeGreaterThan(0);
});

/** A host with more to tell than a slow observer can take in one go. */
function manyConnections(count: number, next: () => void) {
  const errors: string[] = [];
  const logger = { debug() {}, info() {}, warn() {}, error: (_: object, text: string) => errors.push(text) };
  const clientInfo = { name: 'host', version: '1.0.0' };
  const supervisor = createSupervisor({ clientInfo, inspect: { next }, logger });
  for (let n = 0; n < count; n++) {
    supervisor.own(`c${n}`, { connect: () => Promise.reject(new Error('never')), lazy: true });
  }
  return { supervisor, errors };
}

function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('one that is slow leaves the host its turns', async () => {
  let told = 0;
  const { supervisor } = manyConnections(20, () => {
    told++;
    block(10);
  });
  const seen = new Set<number>();
  await until(() => {
    seen.add(told);
    return told >= 20;
  });
  expect(seen.size, 'what else the host does sees it go on').toBeGreaterThan(10);
  await supervisor.close();
});

it('one that falls far behind is not told everything, which is said once', async () => {
  let told = 0;
  const { supervisor, errors } = manyConnections(8_000, () => void told++);
  await supervisor.close();
  await expect.poll(() => told).toBeGreaterThan(0);
  expect(told).toBeLessThanOrEqual(20_000);
  expect(errors).toEqual(['The inspect observer is too slow: it is not told everything']);
});

it('is told everything, however slow it is, before the process ends', async () => {
  const host = fileURLToPath(new URL('./slow-observer.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', host]);
  expect(stdout).toBe('20 connections, true\n');
});

it('is told of each end, also of those that came long ago', () => {
  const told: InspectionEvent[] = [];
  vi.useFakeTimers();
  try {
    const tell = deferredObserver(
      (event) => void told.push(event),
      () => {},
    );
    const event = (status: string) => ({ type: '@xstate.snapshot', snapshot: { status } }) as InspectionEvent;
    const ended = event('done');
    tell(ended, 'files');
    for (let n = 0; n < 100_000; n++) tell(event('active'), 'files');
    vi.runAllTimers();
    expect(told.length).toBeLessThanOrEqual(20_000);
    expect(told[0]).toBe(ended);
  } finally {
    vi.useRealTimers();
  }
});

it('what is no observer is refused', () => {
  const clientInfo = { name: 'host', version: '1.0.0' };
  for (const inspect of [{}, 'yes', 5, { next: 1 }]) {
    expect(() => createSupervisor({ clientInfo, inspect: inspect as never })).toThrow(
      'inspect: expected an XState inspection observer',
    );
  }
});
