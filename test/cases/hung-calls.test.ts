// Failures that people reported: calls that hang, or that end at the wrong time. One test for each row, by its id.
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it } from 'vitest';
import { ownSettings } from '../../src/validation.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { NO_LISTEN_STREAM, startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, stdio } from '../support/owned.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();
const shared = sharedServer();

/** What would pass if the call waited for its own timeout. */
const A_MINUTE = 60_000;

it.each(['clean-eof', 'reset-after-headers'] as const)(
  'case 14: the answer stream ends early (%s): told at once, and not sent again',
  async (kind) => {
    const server = shared();
    // On a stream of the server's own the answer might still come.
    await using proxy = await startProxy(server.port);
    proxy.always('GET', NO_LISTEN_STREAM);
    await using owned = own(http(proxy.url()));
    await owned.ready();
    await server.fault({ kind, when: 'after', ms: 30 });
    const { error, at } = await settled(callTool(owned, 'append', { key: kind }, A_MINUTE));
    expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { execution: 'unknown' } });
    // The answer's end came 30 ms after the run; the rest is the 250 ms of the row, and slack for a busy machine.
    const [run] = server.ledger.events('run');
    expect(at - Number(run?.at)).toBeLessThan(1_000);
    expect([server.ledger.runs(kind), server.ledger.requests('tools/call')]).toEqual([1, 1]);
  },
);

it('case 15: the server dies in a call: the call is settled, as a loss', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url));
  await owned.ready();
  const call = settled(callTool(owned, 'append', { key: 'held', holdMs: A_MINUTE }, A_MINUTE));
  await until(() => server.ledger.runs('held') === 1);
  await server.kill();
  const killedAt = Date.now();
  const { error, at } = await call;
  expect(error).toMatchObject({ code: 'outcome-unknown', evidence: { execution: 'unknown' } });
  expect(at - killedAt).toBeLessThan(1_000);
  expect(server.ledger.runs('held')).toBe(1);
});

it('case 15: a stdio server dies in a call', async () => {
  await using server = stdioServer();
  await using owned = own(stdio(server));
  const call = settled(callTool(owned, 'append', { key: 'held', holdMs: A_MINUTE }, A_MINUTE));
  await until(() => server.ledger.runs('held') === 1);
  process.kill(server.server(), 'SIGKILL');
  const killedAt = Date.now();
  const { error, at } = await call;
  expect(error).toMatchObject({
    code: 'outcome-unknown',
    evidence: { connection: 'lost', execution: 'unknown', process: { signal: 'SIGKILL' } },
  });
  expect(at - killedAt).toBeLessThan(1_000);
  expect(server.ledger.runs('held')).toBe(1);
});

it('case 17: a stalled call heeds the caller’s abort, and nothing is held against the connection', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  const controller = new AbortController();
  const call = owned.handle.callTool({ name: 'hang', arguments: { key: 'stalled' } }, undefined, {
    signal: controller.signal,
    timeout: A_MINUTE,
  });
  const ended = settled(call);
  await until(() => server.ledger.runs('stalled') === 1);
  const reason = new Error('the user went away');
  const abortedAt = Date.now();
  controller.abort(reason);
  const { error, at } = await ended;
  expect(String(error), 'the reason, or the SDK’s error that names it').toContain('the user went away');
  expect(at - abortedAt).toBeLessThan(500);
  await until(() => server.ledger.count('cancelled') === 1);
  expect(owned.handle.status).toMatchObject({
    state: 'ready',
    generation: 1,
    lastError: undefined,
    inFlight: 0,
  });
  expect(server.ledger.requests('ping'), 'nor was it suspected').toBe(0);
});

it('case 18: an initialize that is never answered ends by the connect timeout, which has a default', async () => {
  await using server = await startServer({ faults: [{ on: 'initialize', kind: 'never', times: 'always' }] });
  await using owned = own(http(server.url), {
    timeouts: { connectTimeoutMs: 200 },
    recovery: { maxAttempts: 1 },
  });
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }, A_MINUTE));
  expect(error).toMatchObject({ code: 'unavailable', evidence: { execution: 'none', cause: 'timeout' } });
  expect(server.ledger.requests('initialize')).toBe(1);
  const { timeouts } = ownSettings('files', { transport: { kind: 'http', url: server.url } });
  expect(timeouts).toMatchObject({ connectTimeoutMs: 30_000, requestTimeoutMs: A_MINUTE });
});

it.each([true, false])(
  'case 19: the total cap holds without any progress (resetTimeoutOnProgress: %s)',
  async (reset) => {
    const server = shared();
    await using owned = own(http(server.url));
    await owned.ready();
    const call = owned.handle.callTool({ name: 'hang', arguments: { key: 'capped' } }, undefined, {
      timeout: A_MINUTE,
      maxTotalTimeout: 150,
      resetTimeoutOnProgress: reset,
    });
    const { error, ms } = await settled(call);
    expect(error).toMatchObject({ code: -32001 });
    expect(ms).toBeGreaterThan(140);
    expect(ms).toBeLessThan(5_000);
    expect([server.ledger.runs('capped'), owned.handle.generation]).toEqual([1, 1]);
  },
);

it('case 20: progress extends the idle window, but not the cap', async () => {
  const server = shared();
  await using owned = own(http(server.url));
  await owned.ready();
  let heard = 0;
  const call = owned.handle.callTool(
    { name: 'progress', arguments: { steps: 400, everyMs: 50 } },
    undefined,
    {
      timeout: 400,
      maxTotalTimeout: 900,
      resetTimeoutOnProgress: true,
      onprogress: () => void heard++,
    },
  );
  const { error, ms } = await settled(call);
  expect(error).toMatchObject({ code: -32001, message: expect.stringMatching(/total/i) });
  expect(heard).toBeGreaterThan(3);
  expect(ms, 'longer than the idle window').toBeGreaterThan(800);
  expect(ms).toBeLessThan(3_000);
});

it('case 21: a list_changed handler that lists does not block the call in flight', async () => {
  const server = shared();
  let listed = 0;
  await using owned = own(http(server.url), {
    setup: (client) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
        await owned.handle.listTools();
        listed++;
      });
    },
  });
  await owned.ready();
  await until(async () => (await server.streams()) === 1);
  const call = callTool(owned, 'append', { key: 'long', holdMs: 300 });
  await until(() => server.ledger.runs('long') === 1);
  await server.listChanged();
  await until(() => listed === 1);
  await call;
  expect(server.ledger.runs('long')).toBe(1);
});
