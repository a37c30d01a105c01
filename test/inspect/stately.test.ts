/** From a host in Node to a viewer: with `@statelyai/inspect`'s own receiver at the other end. */
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { AnyActorRef, InspectionEvent } from 'xstate';
import { createSupervisor } from '../../src/index.ts';
import { statelyInspector } from '../../src/inspect/index.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { letGo } from '../support/let-go.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

const CLIENT_INFO = { name: 'host', version: '1.0.0' };

/** What a viewer has been sent so far. */
async function view(url: URL): Promise<StatelyInspectionEvent[]> {
  const seen: StatelyInspectionEvent[] = [];
  const server = url.href.replace('http', 'ws');
  createWebSocketReceiver({ server }).subscribe((event) => void seen.push(event));
  return seen;
}

function sessionOf(seen: readonly StatelyInspectionEvent[], name: string): string | undefined {
  return seen.find((event) => event.type === '@xstate.actor' && event.name === name)?.sessionId;
}

/** The state values of an actor, in order, each once in a row. */
function statesOf(seen: readonly StatelyInspectionEvent[], name: string): string[] {
  const session = sessionOf(seen, name);
  const values = seen.flatMap((event) => {
    if (event.type !== '@xstate.snapshot' || event.sessionId !== session) return [];
    return [JSON.stringify((event.snapshot as unknown as { value: unknown }).value)];
  });
  return values.filter((value, index) => value !== values[index - 1]);
}

const READY = '{"ready":"steady"}';

it('shows each connection and each operation in trouble, under the name of the connection', async () => {
  await using server = await FaultServer.start();
  await using inspector = statelyInspector();
  const seen = await view(await inspector.url);
  await using supervisor = createSupervisor({ clientInfo: CLIENT_INFO, inspect: inspector });
  const files = supervisor.own('files', { transport: server.target });
  await files.callTool({ name: 'append', arguments: { key: 'a' } });
  await server.evict();
  await files.callTool({ name: 'append', arguments: { key: 'b' } });
  expect(server.counts().executions).toEqual({ a: 1, b: 1 });

  await expect.poll(() => statesOf(seen, 'files: tool').at(-1)).toBe('"answered"');
  await expect.poll(() => statesOf(seen, 'files').at(-1)).toBe(READY);
  expect(statesOf(seen, 'files')).toEqual([
    '{"connecting":"opening"}',
    READY,
    '"lost"',
    '{"recreating":"retiring"}',
    '{"recreating":"opening"}',
    READY,
  ]);
  const session = sessionOf(seen, 'files');
  const told = seen.flatMap((event) =>
    event.type === '@xstate.event' && event.sessionId === session ? [event.event] : [],
  );
  expect(told).toContainEqual({ type: 'lost', generation: 1, cause: 'session-unknown' });
  expect(told).toContainEqual({
    type: 'demand',
    generation: 1,
    operation: { kind: 'tool', policy: 'if-unsent', execution: 'none' },
  });
});

it('shows a viewer that comes late what there is, and what has happened', async () => {
  await using server = await FaultServer.start();
  await using inspector = statelyInspector();
  await using supervisor = createSupervisor({ clientInfo: CLIENT_INFO, inspect: inspector });
  const files = supervisor.own('files', { transport: server.target });
  await files.ping();
  const first = await view(await inspector.url);
  await expect.poll(() => statesOf(first, 'files').at(-1)).toBe(READY);
  await files.close();
  await expect.poll(() => statesOf(first, 'files').at(-1)).toBe('"closed"');
  const second = await view(await inspector.url);
  await expect.poll(() => statesOf(second, 'files')).toEqual(statesOf(first, 'files'));
});

it('hands over the machine as it stands in the source', async () => {
  await using server = await FaultServer.start();
  await using inspector = statelyInspector();
  await using supervisor = createSupervisor({ clientInfo: CLIENT_INFO, inspect: inspector });
  supervisor.own('files', { transport: server.target });
  const seen = await view(await inspector.url);
  await expect.poll(() => sessionOf(seen, 'files')).toBeDefined();
  const [actor] = seen.filter((event) => event.type === '@xstate.actor');
  const definition = JSON.parse(actor?.definition ?? '{}');
  expect(definition.id).toBe('connection');
  expect(Object.keys(definition.states)).toContain('failed-ownership');
});

it('says that the port is taken, and harms nobody who does not ask', async () => {
  await using first = statelyInspector();
  const port = Number((await first.url).port);
  await using second = statelyInspector({ port });
  await expect(second.url).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(() => statelyInspector({ port: 70_000 })).toThrow('port: expected a port of 0');
});

/** What XState told of a connection that is ready: one event for the history, and one for what happens. */
async function inspected(server: FaultServer) {
  const events: InspectionEvent[] = [];
  await using supervisor = createSupervisor({
    clientInfo: CLIENT_INFO,
    inspect: (event) => void events.push(event),
  });
  await supervisor.own('files', { transport: server.target }).ping();
  const first = (wanted: InspectionEvent['type']) =>
    until(() =>
      events.find(({ type, actorRef }) => type === wanted && (actorRef as AnyActorRef).id === 'files'),
    );
  return { actor: await first('@xstate.actor'), snapshot: await first('@xstate.snapshot') };
}

it('lets go of a viewer that does not read', async () => {
  await using server = await FaultServer.start();
  await using inspector = statelyInspector();
  const { snapshot } = await inspected(server);
  const viewer = new WebSocket((await inspector.url).href.replace('http', 'ws'));
  await once(viewer, 'open');
  viewer.pause();
  const closed = once(viewer, 'close');
  for (let told = 0; told < 100_000; told++) inspector.next(snapshot);
  viewer.resume();
  await closed;
});

it('does not wait for a viewer that says goodbye and stays', async () => {
  await using inspector = statelyInspector();
  const { host, port, search } = await inspector.url;
  const socket = createConnection({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  socket.write(
    `GET /${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  );
  await once(socket, 'data');
  // A close frame without a body, masked.
  socket.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]));
  socket.resume();
  await letGo(socket);
});

it('leaves a viewer the time to read a long history', async () => {
  await using server = await FaultServer.start();
  await using inspector = statelyInspector();
  const { actor, snapshot } = await inspected(server);
  for (let told = 0; told < 1_000; told++) inspector.next(actor);
  const viewer = new WebSocket((await inspector.url).href.replace('http', 'ws'));
  let seen = 0;
  viewer.on('message', () => seen++);
  await once(viewer, 'open');
  viewer.pause();
  inspector.next(snapshot);
  viewer.resume();
  await expect.poll(() => seen).toBe(1_001);
});
