// What happens between the end of a handshake and `ready`, at each of the turns that lie between the two.
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, describe, expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };
const TURNS = Array.from({ length: 16 }, (_, turn) => turn);

const server = new MemoryServer();
afterAll(() => server[Symbol.asyncDispose]());

async function connected(): Promise<Client> {
  const { Client: V1 } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new V1(clientInfo);
  await client.connect(await server.transport());
  return client;
}

/** Runs `act` so many turns of the microtask queue after it was called. */
function after(turns: number, act: () => void): void {
  if (turns === 0) act();
  else queueMicrotask(() => after(turns - 1, act));
}

describe.each(TURNS)('%i turns after `connect` has returned', (turns) => {
  it('close(): the client is closed', async () => {
    const supervisor = createSupervisor({ clientInfo });
    let closing: Promise<void> | undefined;
    supervisor.own('mine', {
      connect: async () => {
        const client = await connected();
        after(turns, () => {
          closing = supervisor.close();
        });
        return client;
      },
    });
    await until(() => closing !== undefined);
    await closing;
    await until(() => server.sessions === 0, { what: 'the end of its session' });
  });

  it('a loss: it is noticed, and made good', async () => {
    const supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.own('mine', {
      recovery: { recreate: 'eager', initialBackoffMs: 1 },
      connect: async ({ generation, signal }) => {
        const client = await connected();
        // The first one only; an attempt that failed in the handshake counts as none.
        if (generation === 1 && !signal.aborted && server.sessions === 1 && !lost) {
          lost = true;
          after(turns, () => server.close());
        }
        return client;
      },
    });
    let lost = false as boolean;
    await until(() => lost && handle.state === 'ready' && server.sessions === 1, {
      what: 'a living generation',
    });
    expect(await handle.ping()).toEqual({});
    await supervisor.close();
  });
});

describe('reconnect() from within a listener', () => {
  it('on exhausted: resolves when the connection is ready', async () => {
    const supervisor = createSupervisor({ clientInfo });
    let refuse = true;
    const handle = supervisor.own('mine', {
      lazy: true,
      recovery: { maxAttempts: 1 },
      connect: async () => {
        if (refuse) throw new Error('not yet');
        return connected();
      },
    });
    let again: Promise<void> | undefined;
    handle.on('transition', ({ to }) => {
      if (to !== 'exhausted' || again !== undefined) return;
      refuse = false;
      again = handle.reconnect();
    });
    await expect(handle.ping()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(again).resolves.toBeUndefined();
    expect(handle).toMatchObject({ state: 'ready', generation: 1 });
    await supervisor.close();
  });

  it('on ready: resolves with the generation after it', async () => {
    const supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.own('mine', { connect: connected });
    let again: Promise<void> | undefined;
    handle.on('transition', ({ to }) => {
      if (to === 'ready') again ??= handle.reconnect();
    });
    await until(() => again !== undefined);
    await again;
    expect(handle.generation).toBe(2);
    await supervisor.close();
  });
});

it('`connect` that returns the same client twice is refused: closing the old one would close the new one', async () => {
  const supervisor = createSupervisor({ clientInfo });
  const client = await connected();
  const handle = supervisor.own('mine', { connect: async () => client, recovery: { maxAttempts: 1 } });
  await until(() => handle.state === 'ready');
  await expect(handle.reconnect()).rejects.toMatchObject({
    code: 'unavailable',
    cause: { name: 'TypeError' },
  });
  await supervisor.close();
});
