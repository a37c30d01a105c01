import { expect, test } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { startServer } from '../support/http-server.ts';
import { connectV1 } from '../support/raw-client.ts';
import { stdioServer } from '../support/stdio-server.ts';

const clientInfo = { name: 'test', version: '1.0.0' };

test('http: restart', async () => {
  await using server = await startServer();
  await using supervisor = createSupervisor({ clientInfo, logger: undefined });
  const handle = supervisor.own('a', { transport: { kind: 'http', url: server.url } });
  handle.on('transition', (t) => console.log(t.from, '->', t.to, t.generation));
  console.log(await handle.callTool({ name: 'append', arguments: { key: 'x' } }));
  await server.restart();
  console.log(await handle.callTool({ name: 'append', arguments: { key: 'y' } }));
  expect(server.ledger.initializes()).toBe(2);
  expect(server.ledger.runs('y')).toBe(1);
  expect(handle.generation).toBe(2);
  await handle.close();
  console.log(handle.status, server.ledger.events('delete'));
});

test('stdio: kill', async () => {
  await using server = stdioServer();
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.own('a', {
    transport: { kind: 'stdio', command: server.command, args: server.args },
  });
  handle.on('transition', (t) => console.log(t.from, '->', t.to, t.generation));
  console.log(await handle.callTool({ name: 'append', arguments: { key: 'x' } }));
  process.kill(server.pids()[0]!, 'SIGKILL');
  console.log(await handle.callTool({ name: 'echo', arguments: { key: 'y' } }).catch((e) => e));
  console.log(await handle.callTool({ name: 'exit', arguments: { key: 'y', code: 3 } }).catch((e) => e));
  await handle.close();
  console.log(server.alive());
});

test('adopt', async () => {
  await using server = await startServer();
  await using raw = await connectV1(server.url);
  await using supervisor = createSupervisor({ clientInfo });
  const handle = supervisor.adopt('mine', raw.client);
  expect(handle.state).toBe('ready');
  await handle.callTool({ name: 'append', arguments: { key: 'x' } });
  await server.restart();
  console.log(await handle.callTool({ name: 'append', arguments: { key: 'x' } }).catch((e) => e));
  console.log(await handle.listTools().catch((e) => e.message), handle.status);
});
