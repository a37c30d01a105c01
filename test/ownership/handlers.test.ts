// `onclose` and `onerror` of what the caller supplied: called as before while it is lent, and as they were afterwards.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSupervisor, type Supervisor } from '../../src/index.ts';
import { type CallersClient, callersClient, lend, type Supply } from '../support/lent.ts';
import { MemoryServer } from '../support/memory-server.ts';
import { until } from '../support/until.ts';

const clientInfo = { name: 'host', version: '1.0.0' };
let server: MemoryServer;
beforeAll(() => {
  server = new MemoryServer();
});
afterAll(() => server[Symbol.asyncDispose]());

interface Hooks {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

const HOOKS = ['onclose', 'onerror'] as const;
const descriptors = (target: object) => HOOKS.map((hook) => Object.getOwnPropertyDescriptor(target, hook));

/** All the ways in which what was lent is let go of. */
const RELEASES: [
  string,
  (s: Supervisor, mine: CallersClient, supply: Supply) => Promise<unknown> | undefined,
][] = [
  ['the handle is closed', (supervisor) => supervisor.connections.get('mine')?.close()],
  ['the supervisor is closed', (supervisor) => supervisor.close()],
  ['it is lost', (_supervisor, mine) => (mine.transport as { close(): Promise<void> }).close()],
];

const SETTINGS: [string, (client: Hooks) => void][] = [
  ['none were set', () => {}],
  ['both were set', (client) => Object.assign(client, { onclose: () => {}, onerror: () => {} })],
  ['one was set', (client) => Object.assign(client, { onerror: () => {} })],
  [
    'they were set to undefined',
    (client) => Object.assign(client, { onclose: undefined, onerror: undefined }),
  ],
  [
    'they were taken away',
    (client) => {
      delete client.onclose;
      delete client.onerror;
    },
  ],
];

describe.each<Supply>(['v1 client', 'v2 client', 'v2 session'])('%s', (supply) => {
  describe.each(SETTINGS)('%s', (_setting, set) => {
    it.each(RELEASES)('and are as they were when %s', async (_release, release) => {
      await using mine = await callersClient(supply, server);
      set(mine.client as Hooks);
      const before = descriptors(mine.client);
      await using supervisor = createSupervisor({ clientInfo });
      const handle = lend(supervisor, 'mine', supply, mine);
      await release(supervisor, mine, supply);
      await until(() => handle.state !== 'ready');
      expect(descriptors(mine.client)).toEqual(before);
    });
  });

  it('calls the handlers of the caller while it is lent, with `this` and the error', async () => {
    await using mine = await callersClient(supply, server);
    const client = mine.client as Hooks;
    const calls: unknown[] = [];
    client.onerror = function (this: unknown, error) {
      calls.push([this, error]);
    };
    client.onclose = function (this: unknown) {
      calls.push([this]);
    };
    await using supervisor = createSupervisor({ clientInfo });
    lend(supervisor, 'mine', supply, mine);
    const error = new Error('of the transport');
    (mine.transport as Hooks).onerror?.(error);
    expect(calls).toEqual([[client, error]]);
    await mine.close();
    expect(calls[1]).toEqual([client]);
  });

  it('leaves alone what the caller has set in the meantime', async () => {
    await using mine = await callersClient(supply, server);
    const client = mine.client as Hooks;
    client.onclose = () => {};
    await using supervisor = createSupervisor({ clientInfo });
    const handle = lend(supervisor, 'mine', supply, mine);
    const hooks = { onclose: () => {}, onerror: () => {} };
    Object.assign(client, hooks);
    await handle.close();
    expect([client.onclose, client.onerror]).toEqual([hooks.onclose, hooks.onerror]);
  });

  it('says nothing any more when the caller goes on to call what was there while it was lent', async () => {
    await using mine = await callersClient(supply, server);
    const client = mine.client as Hooks;
    let closes = 0;
    client.onclose = () => {
      closes++;
    };
    await using supervisor = createSupervisor({ clientInfo });
    const handle = lend(supervisor, 'mine', supply, mine);
    const lentOnclose = client.onclose;
    client.onclose = () => lentOnclose();
    await handle.close();
    const again = lend(supervisor, 'again', supply, mine);
    lentOnclose();
    expect(closes).toBe(1);
    expect(handle.state).toBe('closed');
    expect(again.state).toBe('ready');
  });

  it('notices the loss when the handler of the caller throws', async () => {
    await using mine = await callersClient(supply, server);
    const client = mine.client as Hooks;
    client.onclose = () => {
      throw new Error('of the host');
    };
    await using supervisor = createSupervisor({ clientInfo });
    const handle = lend(supervisor, 'mine', supply, mine);
    // What the SDK does with it is the SDK's affair.
    await mine.close().catch(() => {});
    expect(handle.state).toBe('failed-ownership');
  });

  it('does not stack up when the same object is supplied again', async () => {
    await using mine = await callersClient(supply, server);
    const before = descriptors(mine.client);
    await using supervisor = createSupervisor({ clientInfo });
    const handle = lend(supervisor, 'mine', supply, mine);
    for (let n = 0; n < 3; n++) await handle.replace(mine.client as never);
    expect(handle.generation).toBe(4);
    await handle.close();
    expect(descriptors(mine.client)).toEqual(before);
  });

  it.each([
    ['the first first', [0, 1]],
    ['the last first', [1, 0]],
  ])('is lent twice and given back twice, %s', async (_order, order) => {
    await using mine = await callersClient(supply, server);
    Object.assign(mine.client, { onclose: () => {}, onerror: () => {} });
    const before = descriptors(mine.client);
    await using supervisor = createSupervisor({ clientInfo });
    const handles = ['one', 'two'].map((name) => lend(supervisor, name, supply, mine));
    for (const index of order) {
      await handles[index]!.close();
      const other = handles[1 - index]!;
      if (other.state === 'ready') expect(await other.listTools()).toHaveProperty('tools');
    }
    expect(descriptors(mine.client)).toEqual(before);
  });

  it('is lent again after its caller has set others, and the loss is noticed all the same', async () => {
    await using mine = await callersClient(supply, server);
    await using supervisor = createSupervisor({ clientInfo });
    lend(supervisor, 'one', supply, mine);
    let closes = 0;
    const hooks = {
      onclose: () => {
        closes++;
      },
      onerror: () => {},
    };
    Object.assign(mine.client, hooks);
    const two = lend(supervisor, 'two', supply, mine);
    await mine.close();
    expect(two.state).toBe('failed-ownership');
    expect(closes).toBeGreaterThan(0);
    await supervisor.close();
    expect([mine.client.onclose, mine.client.onerror]).toEqual([hooks.onclose, hooks.onerror]);
  });

  it('is lent twice, and both learn of the loss', async () => {
    await using mine = await callersClient(supply, server);
    await using supervisor = createSupervisor({ clientInfo });
    const handles = ['one', 'two'].map((name) => lend(supervisor, name, supply, mine));
    await mine.close();
    expect(handles.map(({ state }) => state)).toEqual(['failed-ownership', 'failed-ownership']);
  });
});

it('gives back handlers that a subclass keeps behind an accessor', async () => {
  class Watched extends Client {
    kept: Hooks = {};
  }
  for (const hook of HOOKS) {
    Object.defineProperty(Watched.prototype, hook, {
      get(this: Watched) {
        return this.kept?.[hook];
      },
      set(this: Watched, value) {
        if (this.kept) this.kept[hook] = value;
      },
    });
  }
  const client = new Watched(clientInfo);
  const hooks = { onclose: () => {}, onerror: () => {} };
  await client.connect(await server.transport());
  Object.assign(client, hooks);
  expect(client.kept).toEqual(hooks);
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', client);
  await handle.close();
  expect(client.kept).toEqual(hooks);
  await client.close();
});

it('takes an object that cannot be written to', async () => {
  await using mine = await callersClient('v1 session', server);
  const session = Object.freeze({ request: mine.client.request.bind(mine.client) as never });
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adoptSession('mine', session);
  expect(await handle.listTools()).toHaveProperty('tools');
  await handle.close();
});
