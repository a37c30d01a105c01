// Moments in which it would be easy to say what is not so.
import { expect, it } from 'vitest';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { rejection } from '../support/lent.ts';
import { sharedServer } from '../support/shared-server.ts';
import { until } from '../support/until.ts';
import { append, eventsOf, linkedTo, traced } from './traced.ts';

expectNoCrashes();
const shared = sharedServer();

it('closed in the middle of a recreation: its span says closed, and so does the call that waited', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.ping();
  await server.evict();
  await server.when('initialize', 'hold');
  const call = rejection(files.callTool(append('a')));
  await server.until('the dial is held', ({ held }) => held === 1);
  await files.close();
  await call;
  const [recreation, ...others] = host.recorder.recreations;
  expect(others).toEqual([]);
  expect(recreation?.attributes).toMatchObject({
    'mcp_steward.outcome': 'closed',
    'mcp_steward.attempts': 1,
  });
  expect(recreation?.attributes).not.toHaveProperty('mcp_steward.generation.to');
  expect(recreation?.attributes).not.toHaveProperty('error.type');
  expect(eventsOf(recreation!)).toEqual(['dial']);
  expect(host.recorder.calls.at(-1)?.attributes).toMatchObject({
    'error.type': 'closed',
    'mcp_steward.outcome': 'unavailable',
    'mcp_steward.sends': 1,
  });
  expect(await host.recorder.points('mcp_steward.recreations')).toEqual([
    { attributes: { 'mcp_steward.connection': 'files', 'mcp_steward.outcome': 'closed' }, value: 1 },
  ]);
});

it('the host asks for a new generation: a recreation, but no loss and no recovery', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.ping();
  await files.reconnect();
  const [recreation] = host.recorder.recreations;
  expect(recreation?.attributes).toMatchObject({
    'mcp_steward.outcome': 'ready',
    'mcp_steward.evidence.cause': 'requested',
    'mcp_steward.generation.from': 1,
    'mcp_steward.generation.to': 2,
  });
  expect(recreation?.links).toEqual([]);
  expect(await host.recorder.points('mcp_steward.losses')).toEqual([]);
  expect(await host.recorder.points('mcp_steward.recovery.duration')).toEqual([]);
  await server.evict();
  await files.ping();
  await files.reconnect();
  const [recovery] = await host.recorder.points('mcp_steward.recovery.duration');
  expect(recovery?.value, 'one loss, one recovery').toMatchObject({ count: 1 });
});

it('an answer that was cut while the connection lives: the recreation of a later loss is not linked with it', async () => {
  const server = shared();
  await using host = traced();
  const files = host.own({ transport: { kind: 'http', url: server.url } });
  await files.ping();
  await server.fault({ kind: 'reset', when: 'after' });
  await rejection(files.callTool(append('cut')));
  const cut = host.recorder.calls.at(-1);
  expect(cut?.attributes).toMatchObject({ 'mcp_steward.outcome': 'unknown-outcome' });
  // The probe is answered; only then is it known that nothing was lost.
  await until(() => server.ledger.requests('ping') === 2);
  await files.callTool(append('after'));
  expect(files.generation).toBe(1);
  await server.evict();
  await files.callTool(append('stricken'));
  const [recreation] = host.recorder.recreations;
  expect(linkedTo(recreation!, host.recorder.calls.at(-1)!)).toBe(true);
  expect(linkedTo(recreation!, cut!)).toBe(false);
});

it('one that waited for the first connection is not linked with a later recreation', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.callTool(append('first'));
  await server.evict();
  await files.callTool(append('second'));
  const [first, second] = host.recorder.calls;
  const [recreation] = host.recorder.recreations;
  expect(eventsOf(first!)).toEqual(['waiting']);
  expect(recreation?.links).toHaveLength(1);
  expect(linkedTo(recreation!, second!)).toBe(true);
});

it('lost again on the second send: two losses, the one recreation that was made, and no third send', async () => {
  const server = shared();
  await using host = traced();
  const files = host.own({ transport: { kind: 'http', url: server.url } });
  await files.ping();
  await server.fault({ kind: 'status', status: 404, times: 2 });
  await rejection(files.callTool(append('a')));
  expect(host.recorder.calls.at(-1)?.attributes).toMatchObject({
    'error.type': 'unavailable',
    'mcp_steward.outcome': 'unavailable',
    'mcp_steward.sends': 2,
    'mcp_steward.generation': 2,
    'mcp_steward.evidence.execution': 'none',
  });
  expect(eventsOf(host.recorder.calls.at(-1)!)).toEqual(['waiting', 'sent again']);
  expect(host.recorder.recreations).toHaveLength(1);
  const [losses] = await host.recorder.points('mcp_steward.losses');
  expect(losses?.value).toBe(2);
});

it('lost idle, and called again later: the loss is counted once, the recreation is that of the call', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.ping();
  await server.kill();
  await until(() => files.state === 'lost');
  expect(host.recorder.recreations).toEqual([]);
  await files.ping();
  const [recreation, ...others] = host.recorder.recreations;
  expect(others).toEqual([]);
  expect(linkedTo(recreation!, host.recorder.calls.at(-1)!)).toBe(true);
  expect(host.recorder.calls.at(-1)?.attributes).toMatchObject({ 'mcp_steward.sends': 1 });
  const [loss] = await host.recorder.points('mcp_steward.losses');
  expect(loss).toMatchObject({ attributes: { 'mcp_steward.evidence.cause': 'connection-closed' }, value: 1 });
});

it('a first connection that fails is dialled again: a span of its own, and no loss', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  await server.when('initialize', 'refuse');
  const files = host.own({ transport: server.target, recovery: { maxAttempts: 100 } });
  await server.until('it was dialled again', ({ initializes }) => initializes > 1);
  await server.when('initialize', 'answer');
  await files.ping();
  const [connect, ...others] = host.recorder.recreations;
  expect(others).toEqual([]);
  expect(connect?.name).toBe('mcp_steward.connect');
  expect(connect?.attributes).toMatchObject({
    'mcp_steward.generation.from': 0,
    'mcp_steward.generation.to': 1,
    'mcp_steward.outcome': 'ready',
    // The first of all dials is none of those that follow its failure.
    'mcp_steward.attempts': server.counts().initializes - 1,
  });
  expect(await host.recorder.points('mcp_steward.recreations')).toEqual([]);
  expect(await host.recorder.points('mcp_steward.losses')).toEqual([]);
});

it('exhausted by the loss itself: nothing was recreated, nobody waited; made at last, the recovery is as long as it was', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target, recovery: { maxAttempts: 1, coolDownMs: 1 } });
  await files.ping();
  await server.evict();
  await rejection(files.ping());
  expect(host.recorder.recreations, 'its one attempt was the first connection').toEqual([]);
  expect(eventsOf(host.recorder.calls.at(-1)!), 'it was refused at once').toEqual([]);
  await until(() =>
    files.ping().then(
      () => true,
      () => false,
    ),
  );
  const [recreation] = host.recorder.recreations;
  expect(recreation?.attributes).toMatchObject({
    'mcp_steward.outcome': 'ready',
    'mcp_steward.generation.to': 2,
  });
  const [recovery] = await host.recorder.points('mcp_steward.recovery.duration');
  expect(recovery?.value).toMatchObject({ count: 1 });
});

it('lost, closed, and another of the same name: nothing has recovered', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.ping();
  await server.kill();
  await until(() => files.state === 'lost');
  await files.close();
  await host.own({ transport: server.target }).ping();
  expect(host.recorder.recreations).toEqual([]);
  expect(await host.recorder.points('mcp_steward.recovery.duration')).toEqual([]);
});
