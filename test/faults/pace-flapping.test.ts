// A server that is lost again and again, but answers in between: each recovery is as quick as the first.
import { describe, expect, it } from 'vitest';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, sse, stdio } from '../support/owned.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

/** More than a budget has, and a back-off that would be noticed. */
const IMPATIENT = { recovery: { maxAttempts: 2, initialBackoffMs: 20_000, maxBackoffMs: 20_000 } };
const LIVES = 6;

describe('a server that forgets the session after each answer', () => {
  it.each(['http', 'sse'] as const)('%s: each call is answered, without a back-off', async (kind) => {
    await using server = await startServer({ transport: kind });
    await using owned = own(kind === 'http' ? http(server.url) : sse(server.url), IMPATIENT);
    for (let life = 1; life <= LIVES; life++) {
      expect(await callTool(owned, 'append', { key: `${life}` })).toBeDefined();
      await server.evict();
    }
    expect(server.ledger.initializes()).toBe(LIVES);
    expect(server.ledger.runs()).toBe(LIVES);
  });

  it('eager, and nobody asks in between: the back-off is kept', async () => {
    await using server = await startServer();
    await using owned = own(http(server.url), {
      recovery: { recreate: 'eager', initialBackoffMs: 20_000, maxBackoffMs: 20_000 },
      liveness: { heartbeatMs: 20 },
    });
    await callTool(owned, 'append', { key: 'x' });
    await server.evict();
    await until(() => owned.handle.state === 'recreating');
    expect(server.ledger.initializes()).toBe(1);
    expect(await callTool(owned, 'append', { key: 'y' }), 'until somebody does').toBeDefined();
    expect(server.ledger.initializes()).toBe(2);
  });
});

it('a child that exits after each answer: each call is answered by a new one, without a back-off', async () => {
  const fault = { on: 'tools/call', kind: 'exit', code: 0, when: 'after' } as const;
  await using server = stdioServer({ faults: [fault] });
  await using owned = own(stdio(server), IMPATIENT);
  for (let life = 1; life <= LIVES; life++) {
    expect(await callTool(owned, 'append', { key: `${life}` })).toBeDefined();
    await until(() => owned.handle.state === 'lost');
  }
  expect(server.ledger.count('spawn')).toBe(LIVES);
  expect(server.ledger.runs()).toBe(LIVES);
});

it('a child that dies in each call, which does not answer: it is given up', async () => {
  const fault = { on: 'tools/call', kind: 'exit', code: 1 } as const;
  await using server = stdioServer({ faults: [fault] });
  await using owned = own(stdio(server), { recovery: { maxAttempts: 3, coolDownMs: 60_000 } });
  for (let call = 1; call <= 6; call++) await settled(callTool(owned, 'append', { key: `${call}` }));
  expect(server.ledger.count('spawn')).toBe(3);
  expect(owned.handle.state).toBe('exhausted');
});

it('pings prove nothing: a child that answers only those is given up', async () => {
  await using server = stdioServer({});
  await using owned = own(stdio(server), { recovery: { maxAttempts: 3, coolDownMs: 60_000 } });
  for (let life = 1; life <= 3; life++) {
    await owned.handle.ping();
    process.kill(server.server(), 'SIGKILL');
    await until(() => owned.handle.state === 'lost');
  }
  const { error } = await settled(owned.handle.ping());
  expect(error).toMatchObject({ why: 'budget-spent' });
  expect(server.ledger.count('spawn')).toBe(3);
});

it('an error of the server is an answer', async () => {
  await using server = await startServer();
  await using owned = own(http(server.url), IMPATIENT);
  for (let life = 1; life <= LIVES; life++) {
    expect(await settled(owned.handle.getPrompt({ name: 'there is none' }))).toMatchObject({
      error: { name: 'McpError' },
    });
    await server.evict();
  }
  expect(server.ledger.initializes()).toBe(LIVES);
});
