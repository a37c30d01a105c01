/** What the figures are measured with: an SDK and a protocol revision. By hand, and as a supervisor's connection. */
import {
  Client as Client2,
  StreamableHTTPClientTransport as Http2,
  InMemoryTransport as Memory2,
} from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport as Memory1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as Server1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { McpServer as Server2 } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Connect, OwnOptions } from '../src/index.ts';
import type { ServerScript } from './server.ts';

export const CLIENT_INFO = { name: 'bench', version: '1.0.0' };
const SERVER_INFO = { name: 'bench-server', version: '1.0.0' };

export const CALL = { name: 'echo', arguments: { text: 'hello' } };
const echo = ({ text }: { text: string }) => ({ content: [{ type: 'text' as const, text }] });

/** A connected client, of either SDK. */
export interface BenchClient {
  callTool(params: typeof CALL): Promise<unknown>;
  close(): Promise<void>;
}

export interface Column {
  /** Comes after a figure's name. */
  readonly name: string;
  readonly server: ServerScript;
  /** What a host writes by hand. */
  connectHttp(url: URL): Promise<BenchClient>;
  owned(url: URL): OwnOptions;
}

const v1: Column = {
  name: '',
  server: 'http',
  async connectHttp(url) {
    const client = new Client1(CLIENT_INFO);
    await client.connect(new Http1(url) as Transport);
    return client;
  },
  owned: (url) => ({ transport: { kind: 'http', url } }),
};

const v2: Column = {
  name: ', SDK v2',
  server: 'http',
  async connectHttp(url) {
    const client = new Client2(CLIENT_INFO);
    await client.connect(new Http2(url));
    return client;
  },
  owned: (url) => ({ connect: connectVersion2(url, 'legacy') }),
};

const revision2026: Column = {
  name: ', 2026-07-28',
  server: 'modern',
  async connectHttp(url) {
    const client = new Client2(CLIENT_INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    await client.connect(new Http2(url));
    return client;
  },
  owned: (url) => ({ connect: connectVersion2(url, 'auto') }),
};

/** With sessions, which a restart loses. */
export const SESSION_COLUMNS: readonly Column[] = [v1, v2];
export const HTTP_COLUMNS: readonly Column[] = [v1, v2, revision2026];

function connectVersion2(url: URL, mode: 'legacy' | 'auto'): Connect {
  return async ({ fetch }) => {
    const client = new Client2(CLIENT_INFO, { versionNegotiation: { mode } });
    await client.connect(new Http2(url, { fetch }));
    return client as never;
  };
}

/** A client and a server on the two ends of an in-memory transport, for each SDK. */
export const IN_MEMORY: Readonly<Record<string, () => Promise<BenchClient>>> = {
  '': connectInMemory,
  ', SDK v2': async () => {
    const [near, far] = Memory2.createLinkedPair();
    const server = new Server2(SERVER_INFO);
    server.registerTool('echo', { inputSchema: z.object({ text: z.string() }) }, echo);
    await server.connect(far);
    const client = new Client2(CLIENT_INFO);
    await client.connect(near);
    return client;
  },
};

export async function connectInMemory(): Promise<Client1> {
  const [near, far] = Memory1.createLinkedPair();
  const server = new Server1(SERVER_INFO);
  server.registerTool('echo', { inputSchema: { text: z.string() } }, echo);
  await server.connect(far);
  const client = new Client1(CLIENT_INFO);
  await client.connect(near);
  return client;
}
