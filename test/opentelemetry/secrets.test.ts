// Secrets planted in all that a host passes and in all that a server says: none in a span, an event, a link, a metric.
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { startProxy } from '../support/fault-proxy.ts';
import { settled } from '../support/owned.ts';
import { connectV1 } from '../support/raw-client.ts';
import { sharedServer } from '../support/shared-server.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';
import { type Traced, traced } from './traced.ts';

expectNoCrashes();
const shared = sharedServer();

const SECRET = 'hunter2-s3cr3t-value';
/** Also a piece of it is too much. */
const PIECES = [SECRET, encodeURIComponent(SECRET), 's3cr3t-value'];

let host: Traced;
beforeEach(() => {
  host = traced({ propagate: true });
});

afterEach(async () => {
  await host.supervisor.close();
  const told = [...host.recorder.spans, ...(await host.recorder.metrics())];
  expect(host.recorder.calls.length, 'the test has made calls').toBeGreaterThan(0);
  const text = inspect(told, { depth: 12, maxArrayLength: null, showHidden: true });
  expect(PIECES.filter((piece) => text.includes(piece))).toEqual([]);
  await host[Symbol.asyncDispose]();
});

const call = (name: string, args: object = {}) => ({ name, arguments: { key: SECRET, ...args } });

it('HTTP: query string, headers, arguments, results, URIs, and what the server answers', async () => {
  const server = shared();
  const url = new URL(`${server.url}?token=${SECRET}`);
  const files = host.own({
    transport: { kind: 'http', url, headers: { authorization: `Bearer ${SECRET}` } },
  });
  await files.callTool(call('echo', { text: SECRET }));
  await settled(files.readResource({ uri: `text://${SECRET}` }));
  await files.getPrompt({ name: 'greet', arguments: { name: SECRET } });
  await files.callTool({ ...call('append'), _meta: { note: SECRET } });
  await settled(files.callTool(call('rpcError', { code: -32603, message: SECRET })));
  await server.fault({ kind: 'rpc-error', code: -32001, message: SECRET, data: { token: SECRET } });
  await settled(files.callTool(call('append')));
  await server.fault({ kind: 'status', status: 403, body: SECRET });
  await settled(files.callTool(call('append')));
  await server.fault({ kind: 'reset', when: 'after' });
  await settled(files.callTool(call('append')));
  await server.evict();
  await files.callTool(call('append'));
  const abort = new AbortController();
  abort.abort(new Error(SECRET));
  await settled(files.callTool(call('append'), undefined, { signal: abort.signal }));
  expect(host.recorder.recreations.length).toBeGreaterThan(0);
});

it('HTTP: nobody there; a handshake that is refused with it', async () => {
  const server = shared();
  await using proxy = await startProxy(server.port);
  const url = `${proxy.url()}?api_key=${SECRET}`;
  const recovery = { maxAttempts: 3 };
  const refused = host.own({ transport: { kind: 'http', url }, recovery });
  await refused.ping();
  await proxy.refuse();
  await settled(refused.callTool(call('append')));
  await refused.close();
  const failing = host.own({ transport: { kind: 'http', url: server.url }, recovery });
  await failing.ping();
  await server.fault({ on: 'initialize', kind: 'status', status: 500, body: SECRET, times: 'always' });
  await server.evict();
  await settled(failing.callTool(call('append')));
  expect(host.recorder.recreations).toHaveLength(2);
});

it('stdio: env, the command line, and stderr', async () => {
  await using child = stdioServer({ stderr: `my token is ${SECRET}\n` });
  const { command, args } = child;
  const files = host.own({
    transport: { kind: 'stdio', command, args: [...args, SECRET], env: { TOKEN: SECRET } },
    recovery: { recreate: 'eager' },
  });
  const holding = settled(files.callTool(call('append', { holdMs: 10_000 })));
  await until(() => child.ledger.runs() === 1);
  process.kill(child.server(), 'SIGKILL');
  await holding;
  await until(() => files.generation === 2);
});

it('a connect function and a rule of the host’s that throw it', async () => {
  const connect = async () => {
    throw Object.assign(new Error(`connect failed for ${SECRET}`), { url: SECRET, code: SECRET });
  };
  const failing = host.own({ connect, recovery: { maxAttempts: 2 } });
  await settled(failing.callTool(call('append')));
  await failing.close();
  const classify = () =>
    ({ connection: 'lost', execution: 'none', cause: 'session-unknown', note: SECRET }) as const;
  await using server = await FaultServer.start();
  const files = host.own({ transport: server.target, evidence: { classify } });
  await files.ping();
  await server.when('tools/call', 'refuse');
  await settled(files.callTool(call('append')));
});

it('a caller’s client', async () => {
  const server = shared();
  await using raw = await connectV1(new URL(`${server.url}?token=${SECRET}`), {
    headers: { 'x-key': SECRET },
  });
  const mine = host.supervisor.adopt('mine', raw.client);
  await server.fault({ kind: 'status', status: 404, body: `unknown session ${SECRET}` });
  await settled(mine.callTool(call('append')));
});
