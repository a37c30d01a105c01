/** Who begins to look on later learns of what is there already, and of all that comes. */
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { type Step, steps } from '../../src/inspect/steps.ts';
import { inspectionOf } from '../../src/inspection.ts';
import { FaultServer } from '../../src/testing/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';

expectNoCrashes();

const brief = ({ machine, event, path, to, ignored }: Step) => ({ machine, event, path, to, ignored });

it('a connection that is ready appears, and then takes its steps', async () => {
  await using server = await FaultServer.start();
  await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const files = supervisor.own('files', { transport: server.target });
  await files.ping();
  const seen: Step[] = [];
  const remove = inspectionOf(supervisor).add(steps((step) => seen.push(step)));
  expect(seen.map(brief)).toEqual([
    { machine: 'connection', event: 'appeared', path: [], to: 'ready.steady', ignored: false },
  ]);

  await server.evict();
  await files.callTool({ name: 'append', arguments: { key: 'a' } });
  const ofConnection = seen.filter(({ machine }) => machine === 'connection').map(brief);
  expect(ofConnection[1]).toEqual({
    machine: 'connection',
    event: 'lost',
    path: ['lost'],
    to: 'lost',
    ignored: false,
  });
  expect(ofConnection[2]).toEqual({
    machine: 'connection',
    event: 'demand',
    path: ['recreating.backingOff'],
    to: 'recreating.backingOff',
    ignored: false,
  });
  const ofOperation = seen.filter(({ machine }) => machine === 'operation');
  expect(ofOperation.flatMap(({ path }) => path)).toEqual(['awaiting', 'sending', 'answered']);
  expect(ofOperation.at(-1)).toMatchObject({
    connection: 'files',
    ended: true,
    context: { kind: 'tool', policy: 'if-unsent', sends: 2, evidence: { cause: 'session-unknown' } },
  });

  remove();
  const { length } = seen;
  await files.close();
  expect(seen).toHaveLength(length);
});

it('what nothing takes is told as ignored', async () => {
  await using server = await FaultServer.start();
  await using supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const seen: Step[] = [];
  inspectionOf(supervisor).add(steps((step) => seen.push(step)));
  const files = supervisor.own('files', { transport: server.target });
  // While the first handshake runs, this asks for what is already under way.
  await files.reconnect();
  expect(seen.map(({ to }) => to)).toContain('ready.steady');
  const asked = seen.filter(({ machine, event }) => machine === 'connection' && event === 'reconnect');
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ ignored: true, path: [] });
});
