// Before the first ready: a server that is not there is told to those who wait, and goes on being tried.
import { describe, expect, it } from 'vitest';
import { startProxy } from '../support/fault-proxy.ts';
import { startServer } from '../support/http-server.ts';
import { callTool, http, type OwnedRecipe, own, settled, sse, stdio } from '../support/owned.ts';
import { refusingUrl } from '../support/refusing-url.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const recovery = { firstReadyMs: 100, windowMs: 60_000 };
const MISSING = { name: 'ConnectionUnavailableError', code: 'unavailable', why: 'server-missing' };

const noSuchHost = async () => new URL('http://no-such-host.invalid/mcp');

const exits = (code: number, says = ''): OwnedRecipe => ({
  kind: 'stdio',
  command: process.execPath,
  args: ['-e', `process.stderr.write(${JSON.stringify(says)}, () => process.exit(${code}))`],
  secrets: ['hunter2-hunter2'],
});

describe('is told', () => {
  it.each([
    ['refused', http, refusingUrl, 'unreachable'],
    ['refused, legacy SSE', sse, refusingUrl, 'unreachable'],
    ['no such host', http, noSuchHost, 'unreachable'],
    ['no such host, legacy SSE', sse, noSuchHost, 'unreachable'],
  ] as const)('%s', async (_name, over, url, cause) => {
    await using owned = own(over(await url()), { recovery });
    const both = await Promise.all([
      settled(callTool(owned, 'append', { key: 'x' })),
      settled(owned.handle.ready()),
    ]);
    for (const { error } of both) {
      expect(error).toMatchObject({ ...MISSING, evidence: { execution: 'none', cause } });
      expect(String(error)).toContain('check its address or command');
    }
    expect(owned.handle.state).toBe('connecting');
  });

  it('a process that exits: with its exit code, and the end of its stderr without secrets', async () => {
    await using owned = own(exits(3, 'no config for hunter2-hunter2\n'), { recovery });
    const { error } = await settled(owned.handle.ready());
    expect(error).toMatchObject({ ...MISSING, evidence: { process: { exitCode: 3 } } });
    expect(String(error)).toContain('exited with code 3');
    expect(JSON.stringify(error)).toContain('no config for');
    expect(JSON.stringify(error)).not.toContain('hunter2-hunter2');
    expect(owned.handle.state).toBe('connecting');
  });

  it('a later call hears it of the next dial', async () => {
    await using owned = own(http(await refusingUrl()), { recovery });
    await settled(owned.handle.ready());
    expect((await settled(callTool(owned, 'append', { key: 'x' }))).error).toMatchObject(MISSING);
    expect(owned.handle.state).toBe('connecting');
  });

  it('and the dials go on, until the server is there', async () => {
    await using server = await startServer();
    await using proxy = await startProxy(server.port);
    await proxy.refuse();
    await using owned = own(http(proxy.url()), { recovery });
    expect((await settled(owned.handle.ready())).error).toMatchObject(MISSING);
    await proxy.reopen();
    await until(() => owned.handle.state === 'ready');
    expect(await callTool(owned, 'append', { key: 'x' })).toBeDefined();
  });

  it('at the end of the window at the latest', async () => {
    await using owned = own(http(await refusingUrl()), { recovery: { firstReadyMs: 60_000, windowMs: 200 } });
    const { error, ms } = await settled(owned.handle.ready());
    expect(error).toMatchObject({ code: 'unavailable' });
    expect(ms).toBeLessThan(10_000);
  });
});

describe('is not told', () => {
  it('of a dial that still runs, however long it takes', async () => {
    await using server = stdioServer({ faults: [{ on: 'initialize', kind: 'delay', ms: 500 }] });
    await using owned = own(stdio(server), { recovery: { ...recovery, firstReadyMs: 20 } });
    await owned.handle.ready();
    expect(server.ledger.count('spawn')).toBe(1);
  });

  it('of a server that is there, and fails', async () => {
    await using server = await startServer({
      faults: [{ on: 'initialize', kind: 'status', status: 502, times: 8 }],
    });
    await using owned = own(http(server.url), { recovery: { ...recovery, firstReadyMs: 1 } });
    await owned.handle.ready();
    expect(server.ledger.requests('initialize')).toBe(9);
  });

  it('once it was ready: then it is an outage, which is waited out', async () => {
    await using server = await startServer();
    await using proxy = await startProxy(server.port);
    let failedDials = 0;
    const warn = (_facts: object, message: string) => {
      if (message === 'Dial failed') failedDials++;
    };
    const logger = { debug() {}, info() {}, warn, error() {} };
    await using owned = own(http(proxy.url()), { logger, recovery: { ...recovery, firstReadyMs: 1 } });
    await owned.handle.ready();
    await proxy.refuse();
    const call = callTool(owned, 'append', { key: 'x' });
    await until(() => failedDials >= 6);
    await proxy.reopen();
    expect(await call).toBeDefined();
  });
});

describe('permanent: told at once, and not tried again by itself', () => {
  it.each<[string, OwnedRecipe]>([
    ['a port that fetch blocks, legacy SSE', sse(new URL('http://127.0.0.1:6000/mcp'))],
    ['a port that fetch blocks', http(new URL('http://127.0.0.1:6000/mcp'))],
    ['exit code 126', exits(126)],
    ['exit code 127', exits(127)],
  ])('%s', async (_name, recipe) => {
    await using owned = own(recipe, { recovery: { ...recovery, coolDownMs: 60_000 } });
    const { error } = await settled(callTool(owned, 'append', { key: 'x' }));
    expect(error).toMatchObject({ code: 'unavailable', why: 'permanent' });
    expect(String(error)).not.toContain('cut');
    expect(owned.handle.state).toBe('exhausted');
  });

  it.each([-32600, -32601, -32602])('initialize is refused with %d over HTTP', async (code) => {
    await using server = await startServer({
      answers: 'json',
      faults: [{ on: 'initialize', kind: 'rpc-error', code, message: 'no', times: 'always' }],
    });
    await using owned = own(http(server.url), { recovery: { coolDownMs: 60_000 } });
    expect((await settled(owned.handle.ready())).error).toMatchObject({
      why: 'permanent',
      evidence: { cause: 'incompatible' },
    });
    expect(server.ledger.requests('initialize')).toBe(1);
  });

  it('costs one trial per cool-down, however many ask', async () => {
    await using server = await startServer({
      answers: 'json',
      faults: [{ on: 'initialize', kind: 'rpc-error', code: -32602, message: 'no', times: 'always' }],
    });
    await using owned = own(http(server.url), { recovery: { coolDownMs: 50 } });
    await settled(owned.handle.ready());
    await until(async () => {
      await Promise.all([1, 2, 3].map((key) => settled(callTool(owned, 'append', { key }))));
      return server.ledger.requests('initialize') === 2;
    });
    expect(owned.handle.state).toBe('exhausted');
  });

  it.each([-32603, -32000])('but %d may pass, and is tried again', async (code) => {
    await using server = await startServer({
      answers: 'json',
      faults: [{ on: 'initialize', kind: 'rpc-error', code, message: 'not yet', times: 2 }],
    });
    await using owned = own(http(server.url));
    await owned.handle.ready();
    expect(server.ledger.requests('initialize')).toBe(3);
  });
});
