// A caller-owned connection is never lost by silence: not of a busy server, not of a stopped one, not of a mute one.
import { expect, it } from 'vitest';
import type { LivenessOptions } from '../../src/options.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import type { Fault } from '../support/faults.ts';
import { startServer } from '../support/http-server.ts';
import { callersClient, type LentHandle, overheard, type Supply } from '../support/lent.ts';
import { settled } from '../support/owned.ts';
import type { Target } from '../support/raw-client.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

/** Of a connection of ours, the first ping that is not answered would be a loss. */
const HASTY: LivenessOptions = { probeTimeoutMs: 50, missedProbes: 1, silenceMs: 0, busySilenceMs: 0 };

const SERVERS = {
  stdio: async (faults: Fault[]) => {
    const server = stdioServer({ faults });
    return { server, target: server as Target, pid: () => server.server() };
  },
  http: async (faults: Fault[]) => {
    const server = await startServer({ faults });
    return { server, target: server as Target, pid: () => server.pid };
  },
  sse: async (faults: Fault[]) => {
    const server = await startServer({ transport: 'sse', faults });
    return { server, target: server as Target, pid: () => server.pid };
  },
};
const SUPPLIES: Supply[] = ['v1 client', 'v2 client', 'bare session'];
const OVER = Object.keys(SERVERS) as (keyof typeof SERVERS)[];
const ROWS = SUPPLIES.flatMap((supply) => OVER.map((over) => [supply, over] as const));

const call = (handle: LentHandle, name: string, args: object, timeout = 20_000) =>
  settled(handle.callTool({ name, arguments: args as Record<string, unknown> }, undefined, { timeout }));

/** What the caller has, lent; and how often a probe of it was not answered. */
async function lent(supply: Supply, target: Target, liveness: LivenessOptions) {
  const mine = await callersClient(supply, target);
  const { supervisor, said } = overheard();
  const handle: LentHandle =
    supply === 'bare session'
      ? supervisor.adoptSession('mine', { request: mine.client.request.bind(mine.client) } as never, {
          liveness,
        })
      : supervisor.adopt('mine', mine.client as never, { liveness });
  const unanswered = () => said.filter((line) => line.includes('Probe unanswered')).length;
  return {
    mine,
    handle,
    unanswered,
    async expectUntouched() {
      expect(handle.status).toMatchObject({ state: 'ready', generation: 1 });
      await supervisor.close();
      expect(mine.touched).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      await supervisor.close();
      await mine.close();
    },
  };
}

const TIMED_OUT = { message: expect.stringContaining('timed out') };

it.each(ROWS)('%s, %s: busy, then stopped; it goes on, and is still the same', async (supply, over) => {
  const { server, target, pid } = await SERVERS[over]([]);
  await using _server = server;
  await using own = await lent(supply, target, HASTY);
  const { ledger } = server;
  const busy = call(own.handle, 'block', { key: 'busy', ms: 2_500 }, 1_000);
  await until(() => ledger.count('call', ({ key }) => key === 'busy') === 1);
  const aborting = new AbortController();
  const { signal } = aborting;
  const args = { name: 'append', arguments: { key: 'aborted' } };
  const aborted = settled(own.handle.callTool(args, undefined, { signal }));
  expect((await busy).error).toMatchObject(TIMED_OUT);
  aborting.abort();
  expect((await aborted).error).toMatchObject({ message: expect.stringMatching(/abort/i) });
  await until(() => own.unanswered() >= 3, { what: 'three unanswered probes' });
  expect(own.handle.status).toMatchObject({ state: 'ready', suspectSince: expect.any(Number) });
  expect((await call(own.handle, 'append', { key: 'next' })).error).toBeUndefined();
  await until(() => own.handle.status.suspectSince === undefined);

  process.kill(pid(), 'SIGSTOP');
  const missed = own.unanswered();
  expect((await call(own.handle, 'append', { key: 'stopped' }, 100)).error).toMatchObject(TIMED_OUT);
  await until(() => own.unanswered() >= missed + 3, { what: 'three more' });
  process.kill(pid(), 'SIGCONT');
  expect((await call(own.handle, 'append', { key: 'last' })).error).toBeUndefined();
  expect(['busy', 'next', 'stopped', 'last'].map((key) => ledger.runs(key))).toEqual([1, 1, 1, 1]);
  await own.expectUntouched();
});

it.each(OVER)('%s: no ping is ever answered', async (over) => {
  const { server, target } = await SERVERS[over]([{ on: 'ping', kind: 'never', times: 'always' }]);
  await using _server = server;
  await using own = await lent('v1 client', target, { ...HASTY, heartbeatMs: 20 });
  await until(() => own.unanswered() >= 3);
  expect((await call(own.handle, 'append', { key: 'next' })).error).toBeUndefined();
  await own.expectUntouched();
});
