// After close() every operation is refused at once, nothing is sent, and nothing is opened again.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConnectionClosedError, createSupervisor } from '../../src/index.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { EVERY_OPERATION } from '../support/every-operation.ts';
import { startServer, type TestServer } from '../support/http-server.ts';
import { http } from '../support/owned.ts';
import { connectV1 } from '../support/raw-client.ts';
import { refusingUrl } from '../support/refusing-url.ts';

expectNoCrashes();

const clientInfo = { name: 'host', version: '1.0.0' };
let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const CLOSED = { code: 'closed', connection: 'files', message: expect.stringContaining('"files"') };

describe('an owned handle', () => {
  it('refuses every operation, and sends nothing', async () => {
    await using supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.own('files', { transport: http(server.url) });
    await handle.ping();
    await handle.close();
    const before = server.ledger.count('request');
    for (const { call, method } of EVERY_OPERATION) {
      await expect(call(handle), method).rejects.toThrow(ConnectionClosedError);
      await expect(call(handle), method).rejects.toMatchObject({
        ...CLOSED,
        operation: { method },
        message: expect.stringContaining(`${method} was not sent`),
      });
    }
    await expect(handle.request({ method: 'x/y' } as never, {} as never)).rejects.toMatchObject(CLOSED);
    await expect(handle.reconnect()).rejects.toMatchObject(CLOSED);
    expect(server.ledger.count('request')).toBe(before);
    expect(handle.state).toBe('closed');
    expect(handle.status).toMatchObject({ state: 'closed', inFlight: 0, waiting: 0 });
    expect(supervisor.connections.size).toBe(0);
  });

  it('may be closed again, and listened to; its name is free', async () => {
    await using supervisor = createSupervisor({ clientInfo });
    const lazy = { transport: http(server.url), lazy: true };
    const handle = supervisor.own('files', lazy);
    await Promise.all([handle.close(), handle.close()]);
    await handle.close();
    handle.on('transition', () => {})();
    const again = supervisor.own('files', lazy);
    expect(supervisor.connections.get('files')).toBe(again);
    expect(again.state).toBe('idle');
  });

  it('a call that waits for it is refused when it is closed', async () => {
    await using supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.own('files', { transport: http(await refusingUrl()) });
    const call = handle.callTool({ name: 'append' });
    const closing = handle.close();
    await expect(call).rejects.toMatchObject({ ...CLOSED, operation: { method: 'tools/call' } });
    await closing;
  });
});

describe('a caller-owned handle', () => {
  it('refuses every operation and replace(); the caller’s client works on', async () => {
    await using raw = await connectV1(server);
    await using supervisor = createSupervisor({ clientInfo });
    const handle = supervisor.adopt('files', raw.client);
    await handle.close();
    const before = server.ledger.count('request');
    for (const { call, method } of EVERY_OPERATION) {
      await expect(call(handle), method).rejects.toMatchObject({ ...CLOSED, ownership: 'caller-client' });
    }
    await expect(handle.replace(raw.client)).rejects.toMatchObject(CLOSED);
    expect(server.ledger.count('request')).toBe(before);
    await raw.client.ping();
  });
});

it('a closed supervisor makes no more connections', async () => {
  await using raw = await connectV1(server);
  const supervisor = createSupervisor({ clientInfo });
  await supervisor.close();
  await supervisor.close();
  const before = server.ledger.count('request');
  expect(() => supervisor.own('files', { transport: http(server.url) })).toThrow(ConnectionClosedError);
  expect(() => supervisor.adopt('files', raw.client)).toThrow(ConnectionClosedError);
  expect(() => supervisor.adoptSession('files', raw.client)).toThrow(ConnectionClosedError);
  expect(supervisor.connections.size).toBe(0);
  expect(server.ledger.count('request')).toBe(before);
});
