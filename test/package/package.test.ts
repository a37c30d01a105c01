// The built package, as a host has it: loads nothing of Node, works with import and require, and has types.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { type BuiltPackage, buildPackage } from './build.ts';
import { loadedBy } from './import-graph.ts';

let built: BuiltPackage;
beforeAll(() => {
  built = buildPackage();
}, 60_000);
afterAll(() => built[Symbol.dispose]());

const EXPORTS = [
  'AuthorizationCallbackError',
  'CallerOwnedConnectionLostError',
  'ConnectionClosedError',
  'ConnectionUnavailableError',
  'InvalidOptionsError',
  'NotConnectedError',
  'OutcomeUnknownError',
  'SupervisorError',
  'createSupervisor',
];

it('its main entry loads its own files, xstate and zod, and nothing of Node', () => {
  const { files, packages } = loadedBy(built.entry);
  expect(packages.sort()).toEqual(['xstate', 'zod']);
  const names = files.map((file) => relative(dirname(built.entry), file));
  expect(names).toContain('../machines/connection.machine.js');
  const onDemand = names.filter((name) =>
    /transports\/(stdio|process-tree)|inspect\/(page|local-server)/.test(name),
  );
  expect(onDemand, 'what needs Node is loaded on demand').toEqual([]);
});

it('the walk itself sees re-exports and imports for their effect, and no import()', () => {
  const folder = mkdtempSync(join(tmpdir(), 'steward-graph-'));
  try {
    const entry = join(folder, 'a.js');
    writeFileSync(
      entry,
      "import 'node:fs';\nexport * from './b.js';\nconst later = () => import('node:net');\n",
    );
    writeFileSync(join(folder, 'b.js'), "export { x } from 'zod';\n");
    expect(loadedBy(entry).packages.sort()).toEqual(['node:fs', 'zod']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('it knows its own version', () => {
  expect(VERSION).toBe(
    JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version,
  );
});

it('ESM import', () => {
  const { stdout, stderr, status } = built.run(
    "import * as all from 'mcp-steward'; console.log(JSON.stringify(Object.keys(all).sort()));",
    'module',
  );
  expect([status, stderr]).toEqual([0, '']);
  expect(JSON.parse(stdout)).toEqual(EXPORTS);
});

it('require()', () => {
  const { stdout, status, stderr } = built.run(
    "console.log(JSON.stringify(Object.keys(require('mcp-steward')).filter((key) => key !== '__esModule').sort()));",
    'commonjs',
  );
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('Error')]);
  expect(JSON.parse(stdout)).toEqual(EXPORTS);
});

it('the built package connects, over HTTP and stdio, on demand', () => {
  const { status, stdout, stderr } = built.run(
    `
    import { createSupervisor } from 'mcp-steward';
    const supervisor = createSupervisor({ clientInfo: { name: 'consumer', version: '1.0.0' } });
    const options = { recovery: { maxAttempts: 1 } };
    for (const transport of [
      { kind: 'stdio', command: process.execPath, args: ['-e', 'process.exit(7)'] },
      { kind: 'http', url: 'http://127.0.0.1:9/mcp' },
      { kind: 'sse', url: 'http://127.0.0.1:9/sse' },
    ]) {
      const handle = supervisor.own(transport.kind, { transport, ...options });
      await handle.ping().catch((error) => console.log(transport.kind, error.code));
    }
    await supervisor.close();
    `,
    'module',
  );
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toEqual(['stdio unavailable', 'http unavailable', 'sse unavailable']);
});

it('what looks on works from the built package, and keeps no process alive', () => {
  const { status, stdout, stderr } = built.run(
    `
    import { createSupervisor } from 'mcp-steward';
    import { statelyInspector } from 'mcp-steward/inspect';
    import { openTelemetry } from 'mcp-steward/opentelemetry';
    const inspect = statelyInspector();
    const clientInfo = { name: 'consumer', version: '1.0.0' };
    const supervisor = createSupervisor({ clientInfo, inspect, telemetry: openTelemetry() });
    supervisor.own('files', { transport: { kind: 'http', url: 'http://127.0.0.1:9/mcp' }, lazy: true });
    const { url } = await supervisor.page();
    for (const address of [url, await inspect.url]) console.log((await fetch(address)).status);
    for (const file of ['connection.svg', 'page.js', 'lit-html/lit-html.js']) {
      console.log((await fetch(new URL(file, url))).status);
    }
    `,
    'module',
  );
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout.trim().split('\n')).toEqual(['200', '200', '200', '200', '200']);
});

it('the command of the built package runs', () => {
  const { status, stdout } = built.bin(['graph', 'operation', '--format', 'svg']);
  expect(status).toBe(0);
  expect(stdout).toContain('data-state="unknown-outcome"');
});

/** Each `@ts-expect-error` fails if the types did not resolve: then everything would be `any`. */
const CONSUMER = `
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { createSupervisor, OutcomeUnknownError, type ConnectionState, type OwnedConnection } from 'mcp-steward';
const supervisor = createSupervisor({ clientInfo: { name: 'consumer', version: '1.0.0' } });
const files: OwnedConnection = supervisor.own('files', { transport: { kind: 'http', url: 'http://127.0.0.1/mcp' } });
const state: ConnectionState = files.state;
export async function use(client: Client) {
  await files.reconnect();
  const { tools } = await files.listTools();
  const first: string | undefined = tools[0]?.name;
  const mine = supervisor.adopt('mine', client);
  await mine.replace(client);
  // @ts-expect-error a caller-owned connection is never reconnected here
  await mine.reconnect();
  // @ts-expect-error an owned connection has nothing to replace
  await files.replace(client);
  // @ts-expect-error there is no such transport
  supervisor.own('x', { transport: { kind: 'carrier-pigeon' } });
  // @ts-expect-error a state is one of nine words
  const wrong: ConnectionState = 'on fire';
  return [state, first, wrong, OutcomeUnknownError];
}
`;

it.each([
  { module: 'node16', moduleResolution: 'node16' },
  { module: 'esnext', moduleResolution: 'bundler' },
])(
  'types resolve for a consumer with moduleResolution $moduleResolution',
  (options) => {
    expect(built.check(CONSUMER, options)).toBe('');
  },
  60_000,
);

describe('mcp-steward/testing', () => {
  it('has what a host needs to walk every route', () => {
    const { stdout, stderr } = built.run(
      "import * as all from 'mcp-steward/testing'; console.log(JSON.stringify(Object.keys(all).sort()));",
      'module',
    );
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(['FaultServer', 'RecoveryRoute', 'RouteError', 'recoveryRoutes']);
  });

  it.each(['http', 'stdio'])('walks a route over %s on the built package', (transport) => {
    const { stdout, stderr } = built.run(
      `
      import { createSupervisor } from 'mcp-steward';
      import { recoveryRoutes } from 'mcp-steward/testing';
      const route = recoveryRoutes({ transport: '${transport}' }).find(({ name }) => name.includes('lost > demand > opened'));
      await route.run(({ supervisor: options, own }) => {
        const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' }, ...options });
        return { connection: supervisor.own('files', own), close: () => supervisor.close() };
      });
      console.log('walked');
    `,
      'module',
    );
    expect([stderr, stdout]).toEqual(['', 'walked\n']);
  });
});
