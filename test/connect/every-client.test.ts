// What a host brings along through `connect` is owned: it is recreated, its operations are sent again where that
// is safe, and it is closed.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  ConnectionClosedError,
  createSupervisor,
  OutcomeUnknownError,
  type Supervisor,
} from '../../src/index.ts';
import { VENUES, type Venue } from '../support/connects.ts';
import { rejection } from '../support/lent.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };
const tool = (name: string, key: string, extra = {}) => ({ name, arguments: { key, ...extra } });

const supervisors: Supervisor[] = [];

function own({ connect }: Venue) {
  const supervisor = createSupervisor({ clientInfo });
  supervisors.push(supervisor);
  const handle = supervisor.own('mine', {
    connect,
    replay: { tools: { read: 'safe' } },
    recovery: { initialBackoffMs: 20 },
  });
  const recreated: number[] = [];
  handle.on('recreated', ({ generation }) => void recreated.push(generation));
  return { supervisor, handle, recreated };
}

const ROWS = Object.entries(VENUES).map(([name, start]) => ({ name, start }));

describe.each(ROWS)('$name', ({ name, start }) => {
  let venue: Venue;
  beforeAll(async () => {
    venue = await start();
  });
  beforeEach(() => venue.clear());
  afterEach(() => Promise.all(supervisors.splice(0).map((supervisor) => supervisor.close())));
  afterAll(() => venue[Symbol.asyncDispose]());

  it('is recreated once for all who find it dead, and closed in the end', async () => {
    const { supervisor, handle, recreated } = own(venue);
    await handle.callTool(tool('append', 'first'));
    await venue.lose();
    // HTTP has no hook that tells; elsewhere a call in the same tick would be in flight when it is lost.
    if (!name.includes('HTTP')) await until(() => handle.state === 'lost');

    const keys = ['a', 'b', 'c', 'd', 'e'];
    await Promise.all(keys.map((key) => handle.callTool(tool('append', key))));

    expect(handle).toMatchObject({ state: 'ready', generation: 2 });
    expect(recreated).toEqual([2]);
    expect(venue.contexts.map(({ generation }) => generation)).toEqual([1, 2]);
    expect(venue.ledger.initializes()).toBe(2);
    expect(['first', ...keys].map((key) => venue.ledger.runs(key))).toEqual([1, 1, 1, 1, 1, 1]);
    expect(venue.clients[1]).not.toBe(venue.clients[0]);
    expect(handle.getServerVersion()?.name).toBe('steward-test-server');

    await supervisor.close();
    expect(await rejection(handle.listTools())).toBeInstanceOf(ConnectionClosedError);
    await until(() => venue.clients.every(({ transport }) => transport === undefined));
    await until(async () => (await venue.open()) === 0, { what: 'the end of the last client' });
    expect(venue.contexts).toHaveLength(2);
    // The first session was lost with its server: only the second has anything to end.
    expect(venue.ledger.deletes()).toBe(name.includes('HTTP') ? 1 : 0);
  });

  it('under calls: the safe one is sent again, the other is not', async () => {
    const { supervisor, handle } = own(venue);
    const unsafe = rejection(handle.callTool(tool('append', 'unsafe', { holdMs: 15_000 })));
    const safe = handle.callTool(tool('read', 'safe', { holdMs: 0, delayMs: 0 }));
    await safe;
    await until(() => venue.ledger.runs('unsafe') === 1);
    const again = handle.callTool(tool('read', 'again', { holdMs: 800 }));
    await until(() => venue.ledger.runs('again') === 1);
    let lostAt = Number.POSITIVE_INFINITY;
    handle.on('lost', () => {
      lostAt = performance.now();
    });
    await venue.lose();

    const error = await unsafe;
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toMatchObject({
      code: 'outcome-unknown',
      generation: 1,
      evidence: { execution: 'unknown' },
    });
    // Not at its timeout, which is a minute, nor when the old client is closed, which is after 5 s.
    const settledAfter = performance.now() - lostAt;
    expect(await again).toHaveProperty('content');
    expect(settledAfter).toBeLessThan(2_500);
    expect(handle).toMatchObject({ state: 'ready', generation: 2 });
    expect(venue.ledger.runs('unsafe')).toBe(1);
    expect(venue.ledger.runs('again')).toBe(2);
    expect(venue.ledger.initializes()).toBe(2);
    await supervisor.close();
  });

  it('is made anew when the host asks for it, and the old one finishes first', async () => {
    const { supervisor, handle, recreated } = own(venue);
    const key = 'old';
    const slow = handle.callTool(tool('append', key, { holdMs: 300 }));
    await until(() => venue.ledger.runs(key) === 1);
    await handle.reconnect();
    expect(handle).toMatchObject({ state: 'ready', generation: 2 });
    // Closed under it, it would have failed.
    expect(await slow).toHaveProperty('content');
    await until(() => venue.clients[0]?.transport === undefined, { what: 'the close of the old client' });
    expect(recreated).toEqual([2]);
    expect(venue.ledger.runs(key)).toBe(1);
    await supervisor.close();
  });
});
