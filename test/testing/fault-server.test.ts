// The fault server that hosts get, and its processes; test/testing/fault-reactions.test.ts has what it does wrong.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FaultServer } from '../../src/testing/fault-server.ts';
import { isAlive, untilGone } from '../support/processes.ts';
import { until } from '../support/until.ts';
import {
  addressOf,
  BOTH,
  CLOSED,
  call,
  connect,
  failure,
  folderOf,
  post,
  serverProcesses,
} from './fault-clients.ts';

const MODULE = new URL('../../src/testing/fault-server.ts', import.meta.url).href;

function portRefuses(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}

describe.each(BOTH)('over %s', (transport) => {
  it('offers two tools, answers, and counts', async () => {
    await using server = await FaultServer.start({ transport });
    expect(server.counts()).toMatchObject(
      transport === 'http' ? { processes: 1, alive: 1 } : { processes: 0, alive: 0 },
    );
    await using raw = await connect(server);
    const { tools } = await raw.client.listTools();
    expect(tools.map(({ name, annotations }) => [name, annotations])).toEqual([
      ['append', undefined],
      ['read', { readOnlyHint: true }],
    ]);
    await raw.client.ping();
    await call(raw, 'append', 'a');
    expect(await call(raw, 'read', 'a')).toMatchObject({ content: [{ type: 'text', text: 'read a' }] });
    await call(raw, 'append', '__proto__');
    const { sockets, executions, ...rest } = await server.until(
      'the handshake',
      ({ handshakes }) => handshakes === 1,
    );
    expect(rest).toEqual({
      processes: 1,
      alive: 1,
      initializes: 1,
      handshakes: 1,
      pings: 1,
      toolCalls: 3,
      held: 0,
      deletes: 0,
    });
    expect(Object.entries(executions)).toEqual([
      ['a', 2],
      ['__proto__', 1],
    ]);
    if (transport === 'stdio') expect(sockets).toBe(0);
    else expect(sockets).toBeGreaterThan(0);
    expect(server.counts()).not.toBe(server.counts());
  });

  it('kill: its counts stay, its processes are gone', async () => {
    await using server = await FaultServer.start({ transport });
    await using raw = await connect(server);
    await server.when('tools/call', 'hold');
    const stricken = failure(call(raw, 'append', 'held'));
    await server.until('the call is held', ({ held }) => held === 1);
    const pids = serverProcesses();
    expect(pids).toHaveLength(1);
    await server.kill();
    expect(pids.filter(isAlive)).toEqual([]);
    expect(server.counts()).toMatchObject({
      processes: 1,
      alive: 0,
      initializes: 1,
      toolCalls: 1,
      held: 0,
      executions: {},
      sockets: 0,
    });
    await stricken;
    const { target } = server;
    if (target.kind === 'http') expect(await portRefuses(Number(new URL(target.url).port))).toBe(true);
    await server.kill(); // there is nobody: nothing happens
  });

  it('restart: the next process knows no session and begins with the reactions in force', async () => {
    await using server = await FaultServer.start({ transport });
    await using first = await connect(server);
    await call(first, 'append', 'a');
    const { target } = server;
    await server.when('ping', 'refuse');
    await server.restart();
    expect(server.target).toEqual(target);
    if (transport === 'stdio') await until(() => first.closes === 1);
    else expect(await failure(call(first, 'append', 'a'))).toMatchObject({ code: 404 });
    await using second = await connect(server);
    await call(second, 'append', 'a');
    expect(server.counts()).toMatchObject({ processes: 2, alive: 1, initializes: 2, executions: { a: 2 } });
    expect(await failure(second.client.ping())).toMatchObject(transport === 'http' ? { code: 503 } : CLOSED);
  });

  it('pause: what is sent meanwhile is read after resume', async () => {
    await using server = await FaultServer.start({ transport });
    await using raw = await connect(server);
    const [pid = 0] = serverProcesses();
    const stopped = () => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    server.pause();
    await until(stopped, { what: 'the stop' });
    const sent = call(raw, 'append', 'a');
    const inForce = server.when('ping', 'refuse');
    expect(server.counts()).toMatchObject({ alive: 1, toolCalls: 0 });
    server.resume();
    await Promise.all([sent, inForce]);
    expect(stopped()).toBe(false);
    expect(server.counts()).toMatchObject({ executions: { a: 1 } });
  });

  it('kill ends a paused process too', async () => {
    await using server = await FaultServer.start({ transport });
    await using _raw = await connect(server);
    server.pause();
    const inForce = server.when('tools/call', 'ignore');
    await server.kill();
    await inForce; // in every process that lives: there is none
    expect(server.counts()).toMatchObject({ alive: 0 });
  });

  it('is gone after dispose, and so is all that it made', async () => {
    const server = await FaultServer.start({ transport });
    await using _raw = await connect(server);
    const [pid = 0] = serverProcesses();
    const folder = folderOf(pid);
    const control = JSON.parse(readFileSync(join(folder, 'control.json'), 'utf8'));
    expect(await portRefuses(control.port)).toBe(false);
    await server[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
    expect(await portRefuses(control.port)).toBe(true);
    await server[Symbol.asyncDispose]();
  });
});

describe('over http alone', () => {
  it('evict: 404 for the old session, also for what was held and whatever the reaction', async () => {
    await using server = await FaultServer.start();
    await using raw = await connect(server);
    await server.when('tools/call', 'hold');
    const held = failure(call(raw, 'append', 'a'));
    await server.until('it is held', (counts) => counts.held === 1);
    await server.evict();
    // The standalone stream has ended, and the client finds no other.
    await until(() => raw.errors.some(({ message }) => message.includes('Failed to open SSE stream')));
    expect(await failure(call(raw, 'append', 'b'))).toMatchObject({ code: 404 });
    expect(server.counts()).toMatchObject({ held: 1, toolCalls: 2 });
    await server.when('tools/call', 'answer');
    expect(await held).toMatchObject({ code: 404 });

    await using next = await connect(server);
    await call(next, 'append', 'c');
    expect(server.counts()).toMatchObject({ processes: 1, initializes: 2, executions: { c: 1 } });
  });

  it('counts the DELETE of a session, and forgets that session', async () => {
    await using server = await FaultServer.start();
    await using raw = await connect(server);
    const session = { 'mcp-session-id': raw.transport.sessionId };
    await raw.transport.terminateSession?.();
    expect(server.counts()).toMatchObject({ deletes: 1 });
    expect((await post(server, { method: 'ping' }, session).answer).statusCode).toBe(404);
  });

  it('answers 400 to what names no session, and to what is not JSON', async () => {
    await using server = await FaultServer.start();
    expect((await post(server, { method: 'ping' }).answer).statusCode).toBe(400);
    expect((await post(server, '{"jsonrpc":').answer).statusCode).toBe(400);
    expect(server.counts()).toMatchObject({ pings: 1, alive: 1 });
  });
});

it('over stdio, evict is a TypeError', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  const error = await failure(server.evict());
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain('stdio has no sessions');
});

it('a stdio process ends when its stdin does', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  const { command, args } = addressOf(server) as { command: string; args: string[] };
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  await server.until('its process', ({ alive }) => alive === 1);
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(server.counts()).toMatchObject({ processes: 1, alive: 0 });
});

it('a stdio process is gone when it has ended, though its parent has not noticed', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  const { command, args } = addressOf(server) as { command: string; args: string[] };
  const script = `require('node:child_process').spawn(${JSON.stringify(command)}, ${JSON.stringify(args)})`;
  const parent = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  onTestFinished(() => void parent.kill('SIGKILL'));
  await server.until('its process', ({ alive }) => alive === 1);
  parent.kill('SIGSTOP');
  await server.kill();
  expect(server.counts()).toMatchObject({ processes: 1, alive: 0 });
});

it.each([
  [{ transport: 'sse' }, 'transport must be one of http, stdio'],
  [{ transport: null }, 'transport must be one of http, stdio'],
  [{ transports: 'http' }, 'there is no option "transports"'],
  [null, 'the options must be an object'],
  ['http', 'the options must be an object'],
])('start(%j) is a TypeError', async (options, message) => {
  const error = await failure(FaultServer.start(options as { transport: 'http' }));
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toContain(message);
});

it('half a line in the ledger is skipped, and harms no later one', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  await using _first = await connect(server);
  const [pid = 0] = serverProcesses();
  const ledger = join(folderOf(pid), 'ledger.jsonl');
  await server.until('the handshake', ({ handshakes }) => handshakes === 1);
  await server.kill();
  appendFileSync(ledger, '{"process":1,"is":"arrived","method":"pi');
  expect(server.counts()).toMatchObject({ initializes: 1, pings: 0 });
  await using _second = await connect(server);
  expect(server.counts()).toMatchObject({ initializes: 2, pings: 0 });
});

it('until says what it waited for and the last counts', async () => {
  await using server = await FaultServer.start({ transport: 'stdio' });
  const { message } = await failure(server.until('a ping', ({ pings }) => pings === 1, { timeoutMs: 20 }));
  expect(message).toContain('a ping: not within 20 ms. The last counts: {"processes":0,');
});

it('a stranger on the control socket gets nothing', async () => {
  await using server = await FaultServer.start();
  const [pid = 0] = serverProcesses();
  const { port, token } = JSON.parse(readFileSync(join(folderOf(pid), 'control.json'), 'utf8'));
  const victim = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });
  onTestFinished(() => void victim.kill('SIGKILL'));
  const said = [
    `${JSON.stringify({ token: 'guessed', pid: victim.pid })}\n`,
    `${JSON.stringify({ token: `${token}x`, pid: victim.pid })}\n`,
    `${JSON.stringify({ pid: victim.pid })}\n`,
    `${JSON.stringify({ token, pid: -1 })}\n`,
    'GET / HTTP/1.1\r\n\r\n',
    'null\n',
    'x'.repeat(5_000),
  ];
  for (const words of said) {
    const socket = connectSocket(port, '127.0.0.1');
    socket.on('error', () => {}); // a reset is as good
    socket.write(words);
    expect(await text(socket).catch(() => ''), words.slice(0, 40)).toBe('');
  }
  const silent = connectSocket(port, '127.0.0.1').resume();
  await once(silent, 'connect');
  expect(server.counts()).toMatchObject({ processes: 1, alive: 1 });
  await server.kill();
  expect(isAlive(victim.pid ?? 0)).toBe(true);
  const closed = once(silent, 'close');
  await server[Symbol.asyncDispose]();
  await closed;
});

it('keeps no host alive, except while the host waits for it; its processes end with the host', async () => {
  const script = `
    import { spawn } from 'node:child_process';
    const { FaultServer } = await import(${JSON.stringify(MODULE)});
    const server = await FaultServer.start();
    await server.when('ping', 'ignore');
    await server.evict();
    await server.restart();
    console.log(server.target.url);

    const other = await FaultServer.start({ transport: 'stdio' });
    const child = spawn(other.target.command, other.target.args, { stdio: ['pipe', 'ignore', 'ignore'] });
    child.unref();
    child.stdin.unref();
    await other.until('its process', ({ alive }) => alive === 1);
    console.log(child.pid);`;
  // It disposes of nothing, so what it leaves is left here.
  const folder = mkdtempSync(join(tmpdir(), 'steward-host-'));
  const host = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: folder },
  });
  onTestFinished(() => {
    host.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });
  const [printed, [code]] = await Promise.all([text(host.stdout), once(host, 'exit')]);
  expect(code).toBe(0);
  const [url = '', pid] = printed.split('\n');
  await until(() => portRefuses(Number(new URL(url).port)), { what: 'the end of the HTTP process' });
  await untilGone(Number(pid));
});

it('HTTP: is found under its own address only', async () => {
  await using server = await FaultServer.start();
  const url = new URL((server.target as { url: string }).url);
  const status = (path: string, host: string) =>
    new Promise((resolve, reject) => {
      const asked = request({ port: url.port, host: '127.0.0.1', path, headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.once('error', reject).end();
    });
  expect(await status('/mcp', url.host)).toBe(404);
  expect(await status(url.pathname, 'rebound.example')).toBe(404);
  expect(await status(url.pathname, url.host)).not.toBe(404);
});
