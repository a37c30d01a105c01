// Whom a recreation is linked with: those whom the loss had stricken and those who waited, and nobody else.
import { type DiagLogger, diag } from '@opentelemetry/api';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { rejection } from '../support/lent.ts';
import { sharedServer } from '../support/shared-server.ts';
import { until } from '../support/until.ts';
import { append, linkedTo, loseUnderCall, traced } from './traced.ts';

expectNoCrashes();
const shared = sharedServer();

/** What the SDK complains of, for example about a span that has ended. */
const complaints: string[] = [];
beforeEach(() => {
  complaints.length = 0;
  const note = (message: string) => void complaints.push(message);
  const logger: DiagLogger = { error: note, warn: note, info() {}, debug() {}, verbose() {} };
  diag.setLogger(logger, { suppressOverrideMessage: true });
});
afterEach(() => {
  diag.disable();
  expect(complaints).toEqual([]);
});

it('one that was cut off, when the probe proves the loss only afterwards', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target });
  await files.ping();
  await loseUnderCall(server, files);
  await until(() => files.state === 'lost');
  await server.restart();
  await files.ping();
  const [, cut, later] = host.recorder.calls;
  const [recreation] = host.recorder.recreations;
  expect(cut?.attributes).toMatchObject({ 'mcp_steward.outcome': 'unknown-outcome' });
  expect(linkedTo(recreation!, cut!)).toBe(true);
  expect(linkedTo(recreation!, later!) && linkedTo(later!, recreation!)).toBe(true);
});

it('not one that got an error of the server’s, on the same generation', async () => {
  const server = shared();
  await using host = traced();
  const files = host.own({ transport: { kind: 'http', url: server.url } });
  await files.ping();
  await rejection(files.callTool({ name: 'rpcError', arguments: { code: -32602, message: 'no' } }));
  await server.evict();
  await files.ping();
  const [, answered, stricken] = host.recorder.calls;
  const [recreation] = host.recorder.recreations;
  expect(linkedTo(recreation!, stricken!)).toBe(true);
  expect(linkedTo(recreation!, answered!)).toBe(false);
});

it('not one that a generation before the lost one took with it', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  const files = host.own({ transport: server.target, timeouts: { drainTimeoutMs: 20 } });
  await files.ping();
  await server.when('tools/call', 'hold');
  const held = rejection(files.callTool(append('a')));
  await server.until('it is held', ({ held }) => held === 1);
  await files.reconnect();
  await held;
  const late = host.recorder.calls.at(-1);
  expect(late?.attributes).toMatchObject({
    'mcp_steward.outcome': 'unknown-outcome',
    'mcp_steward.generation': 1,
  });
  await server.evict();
  await files.ping();
  const [, recreation] = host.recorder.recreations;
  expect(recreation?.attributes).toMatchObject({ 'mcp_steward.generation.from': 2 });
  expect(recreation?.links).toHaveLength(1);
  expect(linkedTo(recreation!, late!)).toBe(false);
});

it('not one that gave up waiting for an earlier connection', async () => {
  await using server = await FaultServer.start();
  await using host = traced();
  await server.when('initialize', 'hold');
  const files = host.own({ transport: server.target });
  const abort = new AbortController();
  const gaveUp = rejection(files.ping({ signal: abort.signal }));
  await server.until('the handshake is held', ({ held }) => held === 1);
  abort.abort();
  await gaveUp;
  await server.when('initialize', 'answer');
  await files.ready();
  await server.evict();
  await files.ping();
  const [recreation] = host.recorder.recreations;
  const [first, second] = host.recorder.calls;
  expect(linkedTo(recreation!, second!) && linkedTo(second!, recreation!)).toBe(true);
  expect(linkedTo(recreation!, first!)).toBe(false);
});

it('only with the first recreation after the loss, when that is exhausted', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using host = traced();
  const files = host.own({ transport: server.target, recovery: { maxAttempts: 2 } });
  await files.ping();
  await loseUnderCall(server, files);
  const unknown = host.recorder.calls.at(-1);
  await server.when('initialize', 'forbid');
  await rejection(files.ping());
  await rejection(files.reconnect());
  const [first, second] = host.recorder.recreations;
  expect(first?.attributes).toMatchObject({ 'mcp_steward.outcome': 'exhausted' });
  expect(linkedTo(first!, unknown!)).toBe(true);
  expect(second?.links).toEqual([]);
});
