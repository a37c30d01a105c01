// ConnectionUnavailableError.why: one code for each reason, and no text that says more than is so.

import { describe, expect, it } from 'vitest';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, type Owned, own, settled } from '../support/owned.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { sharedServer } from '../support/shared-server.ts';
import { until } from '../support/until.ts';

const shared = sharedServer();
const MINUTE = 60_000;

async function expectWhy(owned: Owned, why: string, dialFailed: boolean, timeout = MINUTE): Promise<unknown> {
  const { error } = await settled(callTool(owned, 'append', { key: 'x' }, timeout));
  expect(error).toMatchObject({ name: 'ConnectionUnavailableError', code: 'unavailable', why });
  if (dialFailed) expect(String(error)).toContain('could not be made');
  else expect(String(error)).not.toContain('could not be made');
  return error;
}

describe('budget-spent', () => {
  it('on dials that failed', async () => {
    await using owned = own(http(await refusingUrl()), { recovery: { maxAttempts: 2, coolDownMs: MINUTE } });
    const error = await expectWhy(owned, 'budget-spent', true);
    expect(error).toMatchObject({ evidence: { cause: 'unreachable', execution: 'none' } });
    expect(String(error)).toContain('tools/call was not sent');
  });

  it('on losses, with no dial that failed', async () => {
    const server = shared();
    await using owned = own(http(server.url), { recovery: { maxAttempts: 1, coolDownMs: MINUTE } });
    await owned.ready();
    await server.evict();
    const error = await expectWhy(owned, 'budget-spent', false);
    expect(String(error)).toContain('it was lost too often');
    expect(String(error)).toContain('tools/call was not run by the server');
    const { error: second } = await settled(owned.handle.ready());
    expect(second).toMatchObject({ why: 'budget-spent' });
    expect(String(second)).not.toContain('could not be made');
  });
});

describe('while it is being made', () => {
  const held = async (recovery: object): Promise<Owned> => {
    const server = shared();
    const owned = own(http(server.url), { recovery });
    await owned.ready();
    await server.fault({ on: 'initialize', kind: 'hold' });
    void settled(owned.handle.reconnect());
    await until(() => server.ledger.requests('initialize') === 2);
    return owned;
  };

  it('not-waiting', async () => {
    await using owned = await held({ waitForReady: false });
    expect(String(await expectWhy(owned, 'not-waiting', false))).toContain('waitForReady');
    await shared().release();
  });

  it('queue-full', async () => {
    await using owned = await held({ maxWaiting: 1 });
    const first = settled(callTool(owned, 'append', { key: 'first' }));
    expect(String(await expectWhy(owned, 'queue-full', false))).toContain('maxWaiting');
    await shared().release();
    expect((await first).error).toBeUndefined();
  });

  it('deadline', async () => {
    await using owned = await held({});
    const error = await expectWhy(owned, 'deadline', false, 100);
    expect(String(error)).toContain('tools/call was not sent');
    await shared().release();
    await owned.ready();
    expect(shared().ledger.runs('x')).toBe(0);
  });
});

it('deadline, while dials fail: says what the last one came to', async () => {
  await using owned = own(http(await refusingUrl()), { recovery: { maxAttempts: 10_000, windowMs: MINUTE } });
  await until(() => owned.handle.status.reason === 'unreachable');
  const error = await expectWhy(owned, 'deadline', false, 200);
  expect(error).toMatchObject({ evidence: { cause: 'unreachable', execution: 'none' } });
});

it.each([401, 403, 405, 406, 415])('permanent: %i', async (status) => {
  await using server = await startServer({
    faults: [{ on: 'initialize', kind: 'status', status, times: 'always' }],
  });
  await using owned = own(http(server.url), { recovery: { maxAttempts: 5, coolDownMs: MINUTE } });
  const error = await expectWhy(owned, 'permanent', true);
  expect(String(error)).toContain('Mend what it says below');
  expect(server.ledger.requests('initialize')).toBe(1);
});

it('permanent: a command that does not exist', async () => {
  await using owned = own({ kind: 'stdio', command: '/nowhere/no-such-server' });
  await expectWhy(owned, 'permanent', true);
});

it('retry-after: the server wants to be left alone for longer than the recovery lasts', async () => {
  const server = shared();
  await using owned = own(http(server.url), { recovery: { windowMs: 500, coolDownMs: MINUTE } });
  await owned.ready();
  await server.fault({ on: 'initialize', kind: 'status', status: 503, retryAfter: 3_600, times: 'always' });
  await server.evict();
  const error = await expectWhy(owned, 'retry-after', true);
  expect(String(error)).toContain('asked to wait');
  expect(server.ledger.requests('initialize')).toBe(2);
});

it('sends-spent: lost again after it was sent a second time', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  await using owned = own(http(proxy.url()));
  await owned.ready();
  proxy.next('tools/call', { kind: 'answer', status: 404, forwarded: false }, 2);
  const error = await expectWhy(owned, 'sends-spent', false);
  expect(error).toMatchObject({ evidence: { cause: 'session-unknown', execution: 'none' } });
});

it('policy: never to be sent again, not even when it did not run', async () => {
  const server = shared();
  await using owned = own(http(server.url), { replay: { tools: { append: 'never' } } });
  await owned.ready();
  await server.evict();
  await expectWhy(owned, 'policy', false);
  expect(server.ledger.runs('x')).toBe(0);
});
