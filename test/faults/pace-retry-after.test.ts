// `Retry-After`: waited for where it can be, and told at once where nobody can wait so long.
import { describe, expect, it } from 'vitest';
import { startServer } from '../support/http-server.ts';
import { callTool, http, own, settled, sse } from '../support/owned.ts';
import { until } from '../support/until.ts';

const asks = (retryAfter: number | string, status = 503) =>
  ({ on: 'initialize', kind: 'status', status, retryAfter }) as const;

const inOneDay = () => new Date(Date.now() + 86_400_000).toUTCString();

describe('for longer than the window', () => {
  it.each([
    ['503', asks(86_400)],
    ['429', asks(86_400, 429)],
    ['a date', asks(inOneDay())],
  ] as const)('%s: all who wait are told at once, with the time', async (_name, fault) => {
    await using server = await startServer({ faults: [fault] });
    await using owned = own(http(server.url), { lazy: true });
    const both = await Promise.all([
      settled(callTool(owned, 'append', { key: 'x' })),
      settled(owned.handle.ready()),
    ]);
    for (const { error } of both) {
      expect(error).toMatchObject({
        code: 'unavailable',
        why: 'retry-after',
        evidence: { execution: 'none' },
      });
      expect(String(error)).toMatch(/asked to wait for \d+ s/);
    }
    expect(server.ledger.requests('initialize')).toBe(1);
  });

  it('over legacy SSE, where it is the stream that is refused', async () => {
    await using server = await startServer({
      transport: 'sse',
      faults: [{ on: 'GET', kind: 'status', status: 503, retryAfter: 86_400 }],
    });
    await using owned = own(sse(server.url));
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
    expect(error).toMatchObject({ code: 'unavailable', why: 'retry-after' });
    expect(server.ledger.count('fault')).toBe(1);
  });

  it('a demand after the cool-down does not forget it', async () => {
    await using server = await startServer({ faults: [asks(86_400)] });
    await using owned = own(http(server.url), { recovery: { coolDownMs: 1 } });
    await settled(owned.handle.ready());
    for (let call = 0; call < 20; call++) {
      const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
      expect(error).toMatchObject({ why: 'retry-after' });
    }
    expect(server.ledger.requests('initialize')).toBe(1);
  });

  it('reconnect() tries all the same', async () => {
    await using server = await startServer({ faults: [asks(86_400)] });
    await using owned = own(http(server.url));
    await settled(owned.handle.ready());
    await owned.handle.reconnect();
    expect(owned.handle.state).toBe('ready');
  });
});

describe('within the window', () => {
  it('a call that can wait so long is answered, and one that cannot is told at once', async () => {
    await using server = await startServer({ faults: [asks(1)] });
    await using owned = own(http(server.url), { lazy: true });
    const [patient, impatient] = await Promise.all([
      settled(callTool(owned, 'append', { key: 'patient' })),
      settled(callTool(owned, 'append', { key: 'impatient' }, 900)),
    ]);
    expect(patient.error).toBeUndefined();
    expect(impatient.error).toMatchObject({ why: 'retry-after' });
    expect(impatient.ms).toBeLessThan(patient.ms);
    expect(server.ledger.requests('initialize')).toBe(2);
    expect(server.ledger.runs('impatient')).toBe(0);
  });

  it.each(['', 'soon', '-5', '0', 'NaN'])('"%s" says nothing', async (retryAfter) => {
    await using server = await startServer({ faults: [asks(retryAfter)] });
    await using owned = own(http(server.url));
    await owned.handle.ready();
    expect(server.ledger.requests('initialize')).toBe(2);
  });
});

it('of one rate-limited call, it is no concern of the connection, nor of the next one', async () => {
  await using server = await startServer({
    faults: [{ on: 'tools/call', kind: 'status', status: 429, retryAfter: 86_400 }],
  });
  await using owned = own(http(server.url));
  await owned.handle.ready();
  expect((await settled(callTool(owned, 'append', { key: 'limited' }))).error).toMatchObject({ code: 429 });
  expect(await callTool(owned, 'append', { key: 'x' })).toBeDefined();
  expect(owned.handle).toMatchObject({ state: 'ready', generation: 1 });
  await server.evict();
  expect(await callTool(owned, 'append', { key: 'y' })).toBeDefined();
  await until(() => owned.handle.generation === 2);
});
