// Checked by `tsc --noEmit`, never run: what the ownership forbids does not compile.
import type { Client as ClientV2 } from '@modelcontextprotocol/client';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema, ListToolsResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expectTypeOf } from 'vitest';
import {
  type CallerOwnedConnection,
  type ConnectContext,
  type ConnectionHandle,
  createSupervisor,
  type OwnedConnection,
  type OwnOptions,
} from '../../src/index.ts';
import { sdk2 } from '../../src/sdk-2.ts';

declare const v1: Client;
declare const v2: ClientV2;

const supervisor = createSupervisor({ clientInfo: { name: 'types', version: '1.0.0' } });
const http = { kind: 'http', url: 'http://127.0.0.1/mcp' } as const;
const owned = supervisor.own('owned', { transport: http });
const mine = supervisor.adopt('mine', v1);
const low = supervisor.adoptSession('low', v1);

// --- Owned: reconnect, never replace.
expectTypeOf(owned).toEqualTypeOf<OwnedConnection>();
expectTypeOf(owned.ownership).toEqualTypeOf<'supervisor'>();
expectTypeOf(owned.reconnect).toEqualTypeOf<() => Promise<void>>();
expectTypeOf(owned.finishAuth).parameters.toEqualTypeOf<[callback: string | URL | URLSearchParams]>();
expectTypeOf(owned).not.toHaveProperty('replace');
// @ts-expect-error an owned connection has nothing to replace
owned.replace(v1);

// --- Caller-owned: replace, never reconnect.
expectTypeOf(mine).toExtend<CallerOwnedConnection<never>>();
expectTypeOf(mine.ownership).toEqualTypeOf<'caller-client' | 'caller-session'>();
expectTypeOf(mine).not.toHaveProperty('reconnect');
expectTypeOf(mine).not.toHaveProperty('finishAuth');
expectTypeOf(low).not.toHaveProperty('reconnect');
expectTypeOf(mine.replace).returns.resolves.toEqualTypeOf<void>();
void mine.replace(v1);
void mine.replace(v2);
void low.replace(v1);
void low.replace({ request: async () => ({}) });
// @ts-expect-error a connection that belongs to its caller is never reconnected here
mine.reconnect();
// @ts-expect-error nor is a session
low.reconnect();
// @ts-expect-error replace takes a client, not a way to make one
void mine.replace(() => v1);
// @ts-expect-error nor nothing at all
void mine.replace();
// @ts-expect-error nor one that may come later
void mine.replace(Promise.resolve(v1));
// @ts-expect-error a client needs callTool()
void mine.replace({ request: async () => ({}) });
// @ts-expect-error a session needs request()
void low.replace({});

// --- adopt: by shape, SDK v1 and v2; no factory and no provider of replacements.
expectTypeOf(supervisor.adopt('v2', v2)).toExtend<ConnectionHandle>();
expectTypeOf(supervisor.adoptSession('v2', v2)).toExtend<ConnectionHandle>();
expectTypeOf(supervisor.adoptSession('bare', { request: async () => ({}) })).toExtend<ConnectionHandle>();
supervisor.adopt('options', v1, {
  recovery: { waitForReady: false, maxWaiting: 1 },
  liveness: { probeTimeoutMs: 1 },
  timeouts: { requestTimeoutMs: 1 },
  evidence: { trust404: false },
});
// @ts-expect-error a session is no client
supervisor.adopt('bare', { request: async () => ({}) });
// @ts-expect-error a factory is no client
supervisor.adopt('factory', async () => v1);
// @ts-expect-error there is no connect for what the caller owns
supervisor.adopt('x', v1, { connect: async () => v1 });
// @ts-expect-error nor a transport
supervisor.adopt('x', v1, { transport: http });
// @ts-expect-error nor a replacement provider, under any name
supervisor.adopt('x', v1, { replacement: () => v1 });
// @ts-expect-error nor recreation
supervisor.adopt('x', v1, { recovery: { recreate: 'eager' } });
// @ts-expect-error nor attempts
supervisor.adopt('x', v1, { recovery: { maxAttempts: 3 } });
// @ts-expect-error nor replay: it is never sent again
supervisor.adopt('x', v1, { replay: { tools: { read: 'safe' } } });
// @ts-expect-error nor laziness: it is connected
supervisor.adopt('x', v1, { lazy: true });
// @ts-expect-error nor a limit for connecting it
supervisor.adoptSession('x', v1, { timeouts: { connectTimeoutMs: 1 } });

// --- own: a transport or a connect function, and not both.
supervisor.own('connect v1', { connect: async () => v1 });
supervisor.own('connect v2', { connect: async () => v2 });
supervisor.own('connect at once', { connect: () => v1 });
supervisor.own('context', {
  connect: async (context) => {
    expectTypeOf(context).toEqualTypeOf<ConnectContext>();
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    expectTypeOf(context.generation).toEqualTypeOf<number>();
    expectTypeOf(context.fetch).toEqualTypeOf<typeof fetch>();
    return v1;
  },
});
// @ts-expect-error neither
supervisor.own('x', {});
// @ts-expect-error neither, with other options
supervisor.own('x', { lazy: true });
// @ts-expect-error both
supervisor.own('x', { transport: http, connect: async () => v1 });
// @ts-expect-error a client is no recipe: what is supplied is adopted
supervisor.own('x', { connect: v1 });
// @ts-expect-error connect returns a client
supervisor.own('x', { connect: async () => ({}) });
// @ts-expect-error no such option
supervisor.own('x', { transport: http, factory: () => v1 });
// @ts-expect-error no such transport
supervisor.own('x', { transport: { kind: 'websocket', url: 'ws://127.0.0.1' } });
// @ts-expect-error no such policy
supervisor.own('x', { transport: http, replay: { tools: { read: 'always' } } });
expectTypeOf<{ transport: typeof http; connect: () => Client }>().not.toExtend<OwnOptions>();

// --- The two kinds of handle are not taken for each other, and share what a client has.
// @ts-expect-error
expectTypeOf(mine).toExtend<OwnedConnection>();
expectTypeOf(owned).not.toExtend<CallerOwnedConnection<Client>>();
expectTypeOf(owned).toExtend<ConnectionHandle>();
expectTypeOf(mine).toExtend<ConnectionHandle>();
expectTypeOf(supervisor.connections).toEqualTypeOf<ReadonlyMap<string, ConnectionHandle>>();
// @ts-expect-error a listener is of an event that there is
owned.on('reconnected', () => {});
// @ts-expect-error a state is read
owned.state = 'ready';
// @ts-expect-error so is a generation
mine.generation = 2;

// --- The methods are the client's own.
type Requests =
  | 'ping'
  | 'listTools'
  | 'listPrompts'
  | 'listResources'
  | 'listResourceTemplates'
  | 'getPrompt'
  | 'readResource'
  | 'complete'
  | 'setLoggingLevel'
  | 'subscribeResource'
  | 'unsubscribeResource'
  | 'request'
  | 'getServerCapabilities'
  | 'getServerVersion'
  | 'getInstructions';
expectTypeOf<Pick<ConnectionHandle, Requests>>().toEqualTypeOf<Pick<Client, Requests>>();
expectTypeOf(owned.callTool({ name: 't' })).toEqualTypeOf<ReturnType<Client['callTool']>>();
void owned.callTool({ name: 't' }, CallToolResultSchema, { timeout: 1 });
void owned.callTool({ name: 't' }, undefined, { signal: new AbortController().signal });
void owned.callTool({ name: 't' }, { timeout: 1, onprogress: ({ progress }) => void progress.toFixed() });
expectTypeOf(owned.request({ method: 'tools/list' }, ListToolsResultSchema)).resolves.toHaveProperty('tools');
// @ts-expect-error an option that there is not
void owned.callTool({ name: 't' }, { timout: 1 });
// @ts-expect-error a tool has a name
void owned.callTool({});

// A host that holds what a client has of requests can hold a handle.
const host = (client: Pick<Client, Requests | 'callTool'>) => client.listTools();
void host(owned);
void host(mine);
void host(low);

// SDK v2 is chosen by a value; only with it is a version negotiated, and `setup` takes its client where that is said.
const byVersion2 = {
  kind: 'http',
  url: 'http://127.0.0.1',
  sdk: sdk2,
  versionNegotiation: { mode: 'auto' },
} as const;
void supervisor.own('v2', { transport: byVersion2 });
// @ts-expect-error SDK v1 negotiates nothing
void supervisor.own('v1', { transport: { kind: 'http', url: 'http://127.0.0.1', versionNegotiation: {} } });
createSupervisor({
  clientInfo: { name: 'h', version: '1' },
  setup(client) {
    expectTypeOf(client).toEqualTypeOf<Client>();
  },
});
createSupervisor({
  clientInfo: { name: 'h', version: '1' },
  setup: (client: ClientV2) => void client.getProtocolEra(),
});
expectTypeOf(owned.status.protocolVersion).toEqualTypeOf<string | undefined>();
expectTypeOf(owned.getProtocolEra()).toEqualTypeOf<'legacy' | 'modern' | undefined>();
