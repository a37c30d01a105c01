// Owned transports by SDK v2: the revision is negotiated, and told.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSupervisor, InvalidOptionsError, type OwnOptions } from '../../src/index.ts';
import { sdk2 } from '../../src/sdk-2.ts';
import { startServer } from '../support/http-server.ts';
import { own } from '../support/owned.ts';
import { stdioServer } from '../support/stdio-server.ts';
import { until } from '../support/until.ts';

const tool = (key: string) => ({ name: 'append', arguments: { key } });
const clientInfo = { name: 'host', version: '1.0.0' };

/** A stdio server of 2025 by hand: what it does with anything that comes before `initialize`. */
const byHand = (early: 'exits' | 'is silent') => `
  const lines = require('node:readline').createInterface({ input: process.stdin });
  let known = false;
  lines.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'initialize') known = true;
    else if (!known) return ${early === 'exits' ? 'process.exit(1)' : 'undefined'};
    if (id === undefined) return;
    const result = method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
      : { content: [{ type: 'text', text: String(process.pid) }] };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });`;

describe('the revision', () => {
  it.each([
    ['http', undefined, '2025-11-25', 'legacy'],
    ['http', 'modern', '2026-07-28', 'modern'],
    ['sse', 'sse', '2025-11-25', 'legacy'],
  ] as const)('over %s, server %s: %s', async (kind, transport, version, era) => {
    await using server = await startServer({ ...(transport && { transport }) });
    await using owned = own({ kind, url: server.url, sdk: sdk2 });
    expect(owned.handle.status.protocolVersion).toBeUndefined();
    await owned.handle.callTool(tool('a'));
    expect(owned.handle.status.protocolVersion).toBe(version);
    expect(owned.handle.getNegotiatedProtocolVersion()).toBe(version);
    expect(owned.handle.getProtocolEra()).toBe(era);
    expect(server.ledger.runs('a')).toBe(1);
  });

  it('is told with a new generation, and stays known while the connection is lost', async () => {
    await using server = await startServer();
    await using owned = own({ kind: 'http', url: server.url, sdk: sdk2 });
    const recreated: object[] = [];
    owned.handle.on('recreated', (event) => recreated.push(event));
    await owned.handle.callTool(tool('a'));
    await server.restart();
    await owned.handle.callTool(tool('b'));
    expect(recreated).toEqual([
      expect.objectContaining({
        generation: 2,
        protocolVersion: '2025-11-25',
        previousProtocolVersion: '2025-11-25',
      }),
    ]);
    await server.stop();
    await owned.handle.callTool(tool('c'), { timeout: 500 }).catch(() => {});
    await until(() => owned.handle.state !== 'ready', { what: 'the loss' });
    expect(owned.handle.getNegotiatedProtocolVersion()).toBe('2025-11-25');
  });

  it('a client of SDK v1 tells it over Streamable HTTP', async () => {
    await using server = await startServer();
    await using owned = own({ kind: 'http', url: server.url });
    await owned.handle.listTools();
    expect(owned.handle.status.protocolVersion).toBe('2025-11-25');
    expect(owned.handle.getProtocolEra()).toBe('legacy');
  });

  it('a pinned one', async () => {
    await using server = await startServer({ transport: 'modern' });
    await using owned = own({
      kind: 'http',
      url: server.url,
      sdk: sdk2,
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    });
    await owned.handle.callTool(tool('a'));
    expect(owned.handle.getProtocolEra()).toBe('modern');
  });
});

describe('over stdio', () => {
  it('one process for a generation, and its loss is seen', async () => {
    await using server = stdioServer({});
    await using owned = own({ kind: 'stdio', command: server.command, args: server.args, sdk: sdk2 });
    await owned.handle.callTool(tool('a'));
    expect(owned.handle.status.protocolVersion).toBe('2025-11-25');
    expect(server.ledger.initializes()).toBe(1);
    process.kill(server.server(), 'SIGKILL');
    await until(() => owned.handle.state === 'lost', { what: 'the loss' });
    await owned.handle.callTool(tool('b'));
    expect(owned.handle.generation).toBe(2);
    expect(server.ledger.initializes()).toBe(2);
  });

  it.each(['exits', 'is silent'] as const)('a server that %s when it is asked early', async (early) => {
    await using owned = own(
      { kind: 'stdio', command: process.execPath, args: ['-e', byHand(early)], sdk: sdk2 },
      { timeouts: { connectTimeoutMs: 3_000 } },
    );
    const pidOf = async () => JSON.stringify(await owned.handle.callTool(tool('a')));
    const first = await pidOf();
    expect(await pidOf()).toBe(first);
    expect(owned.handle.getProtocolEra()).toBe('legacy');
    await owned.handle.reconnect();
    expect(await pidOf()).not.toBe(first);
    expect(owned.handle.generation).toBe(2);
  });
});

/** A server of 2026-07-28 alone: it ends when it is first asked, and refuses the handshake of 2025. */
const MODERN_THAT_CRASHED = `
  const { existsSync, writeFileSync } = require('node:fs');
  const crashes = !existsSync(process.argv[1]);
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (id === undefined) return;
    if (crashes) { writeFileSync(process.argv[1], ''); process.exit(1); }
    const complete = { resultType: 'complete', ttlMs: 0, cacheScope: 'public' };
    const answers = {
      'server/discover': { result: { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } } },
      'tools/call': { result: { ...complete, content: [{ type: 'text', text: 'ok' }] } },
      'tools/list': { result: { ...complete, tools: [] } },
    };
    const answer = answers[method] ?? { error: { code: -32000, message: 'Not now' } };
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });`;

it('a server of 2026-07-28 that crashed once when it was asked is asked again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'steward-crash-'));
  const args = ['-e', MODERN_THAT_CRASHED, join(folder, 'crashed')];
  await using owned = own({ kind: 'stdio', command: process.execPath, args, sdk: sdk2 });
  await owned.handle.callTool(tool('a'));
  expect(owned.handle.getProtocolEra()).toBe('modern');
  rmSync(folder, { recursive: true });
});

it('a command that is not there is told as such', async () => {
  await using owned = own({ kind: 'stdio', command: '/no/such/command', sdk: sdk2 });
  await expect(owned.handle.callTool(tool('a'))).rejects.toMatchObject({
    why: 'permanent',
    cause: { code: 'ENOENT' },
  });
});

it('setup and capabilities are those of the supervisor', async () => {
  await using server = await startServer();
  const clients: object[] = [];
  await using supervisor = createSupervisor({
    clientInfo,
    capabilities: { roots: {} },
    setup: (client: object) => void clients.push(client),
  });
  const handle = supervisor.own('a', { transport: { kind: 'http', url: server.url, sdk: sdk2 } });
  await handle.ready();
  expect(clients).toEqual([expect.any(sdk2.Client)]);
});

it('a server that never answers is given up at the limit of the dial', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await using owned = own(
    { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, sdk: sdk2 },
    { timeouts: { connectTimeoutMs: 100 }, recovery: { maxAttempts: 1 } },
  );
  await expect(owned.handle.callTool(tool('a'))).rejects.toMatchObject({ code: 'unavailable' });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('options', () => {
  const url = 'http://127.0.0.1:1/mcp';
  it.each([
    ['transport.versionNegotiation', { kind: 'http', url, versionNegotiation: { mode: 'auto' } }],
    ['transport.versionNegotiation', { kind: 'stdio', command: 'x', versionNegotiation: {} }],
    ['transport.sdk', { kind: 'http', url, sdk: { Client: class {} } }],
    ['transport.sdk', { kind: 'stdio', command: 'x', sdk: 2 }],
    [
      'transport.versionNegotiation.mode',
      { kind: 'sse', url, sdk: sdk2, versionNegotiation: { mode: 'new' } },
    ],
  ])('%s', async (option, transport) => {
    await using supervisor = createSupervisor({ clientInfo });
    const wrong = () => supervisor.own('a', { transport, lazy: true } as unknown as OwnOptions);
    expect(wrong).toThrow(InvalidOptionsError);
    expect(wrong).toThrow(option);
  });
});
