// `recreate: 'eager'`: never given up, without a call, a storm, or a process that cannot end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { http, own, stdio } from '../support/owned.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const recovery = { recreate: 'eager', maxAttempts: 2, coolDownMs: 50 } as const;

describe('an outage that is longer than the budget', () => {
  it('of one that was ready: it is ready again when the server is back, and nobody called', async () => {
    await using server = await startServer();
    await using proxy = await startProxy(server.port);
    await using owned = own(http(proxy.url()), { recovery, liveness: { heartbeatMs: 20 } });
    await owned.handle.ready();
    await proxy.refuse();
    await until(() => owned.states().filter((state) => state === 'exhausted').length >= 2);
    await proxy.reopen();
    await until(() => owned.handle.state === 'ready');
    expect(owned.handle.generation).toBe(2);
  });

  it('before the first ready, the same', async () => {
    await using server = await startServer();
    await using proxy = await startProxy(server.port);
    await proxy.refuse();
    await using owned = own(http(proxy.url()), { recovery });
    await until(() => owned.states().filter((state) => state === 'exhausted').length >= 2);
    await proxy.reopen();
    await until(() => owned.handle.state === 'ready');
    expect(owned.handle.generation).toBe(1);
  });

  it('of a child that cannot be started: one process for each cool-down', async () => {
    const fault = { on: 'initialize', kind: 'exit', code: 1, times: 'always' } as const;
    await using server = stdioServer({ faults: [fault] });
    await using owned = own(stdio(server), { recovery });
    const givenUp = () => owned.states().filter((state) => state === 'exhausted').length;
    await until(() => givenUp() >= 3);
    await owned.handle.close();
    // Two of the budget, and one trial before each further time that it was given up, or was closed.
    expect(server.ledger.count('spawn')).toBeGreaterThanOrEqual(2 + givenUp() - 1);
    expect(server.ledger.count('spawn')).toBeLessThanOrEqual(2 + givenUp());
  });
});

it('on demand, nothing is tried without a call', async () => {
  await using server = await startServer();
  await using proxy = await startProxy(server.port);
  await proxy.refuse();
  await using owned = own(http(proxy.url()), { recovery: { maxAttempts: 1, coolDownMs: 1 } });
  await until(() => owned.handle.state === 'exhausted');
  await proxy.reopen();
  // A connection of somebody else's, so that time has passed.
  await using other = own(http(proxy.url()));
  await other.handle.ready();
  expect(server.ledger.initializes()).toBe(1);
  expect(owned.handle.state).toBe('exhausted');
});

it('close() ends it', async () => {
  await using server = await startServer();
  await using proxy = await startProxy(server.port);
  await proxy.refuse();
  await using owned = own(http(proxy.url()), { recovery: { ...recovery, coolDownMs: 5 } });
  await until(() => owned.handle.state === 'exhausted');
  await owned.handle.close();
  await proxy.reopen();
  await using other = own(http(proxy.url()));
  await other.handle.ready();
  expect(server.ledger.initializes()).toBe(1);
});

it('keeps no process that has nothing else to do', async () => {
  const host = `
    import { createSupervisor } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
    const handle = createSupervisor({ clientInfo: { name: 'host', version: '1' } }).own('files', {
      transport: { kind: 'http', url: ${JSON.stringify((await refusingUrl()).href)} },
      recovery: ${JSON.stringify({ ...recovery, coolDownMs: 60_000 })},
    });
    await handle.ready().catch(() => {});
    console.log(handle.state);
  `;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', host]);
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  expect(said.trim()).toBe('exhausted');
});
