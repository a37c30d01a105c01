import type { Transport as TransportV2 } from '@modelcontextprotocol/client';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  SSEClientTransport as SseV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { WebSocket } from 'ws';

/** Where to connect: an HTTP server (or a proxy's URL), or what stdioServer() returns. */
export type Target = URL | { readonly url: URL } | { readonly command: string; readonly args: string[] };

export interface RawOptions {
  /** Answers elicitations with `{ ok: true }`, and says so in `initialize`. */
  elicitation?: boolean;
  /** Of the handshake. */
  timeoutMs?: number;
  fetch?: StreamableHTTPClientTransportOptions['fetch'];
  headers?: Record<string, string>;
}

/** A plain SDK client, and what its hooks saw. */
export interface Raw<C, T> {
  readonly client: C;
  readonly transport: T;
  readonly errors: Error[];
  closes: number;
  [Symbol.asyncDispose](): Promise<void>;
}

export type RawV1 = Raw<Client, Transport & Partial<Pick<StreamableHTTPClientTransport, 'terminateSession'>>>;
export type RawV2 = Raw<ClientV2, TransportV2>;

const INFO = { name: 'raw-client', version: '1.0.0' };

/** A transport of the v1 SDK for a target; a path that ends in `/sse` means legacy SSE, `ws:` WebSocket. */
export function transportV1(target: Target, options: RawOptions = {}): RawV1['transport'] {
  if ('command' in target) {
    return new StdioClientTransport({ command: target.command, args: target.args, stderr: 'pipe' });
  }
  const url = target instanceof URL ? target : target.url;
  if (url.protocol === 'ws:') {
    // Node 20 has no WebSocket of its own.
    globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;
    return new WebSocketClientTransport(url);
  }
  const init = {
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.headers && { requestInit: { headers: options.headers } }),
  };
  // The SDK's transports are not assignable to its Transport under exactOptionalPropertyTypes.
  if (url.pathname.endsWith('/sse')) return new SSEClientTransport(url, init);
  return new StreamableHTTPClientTransport(url, init) as RawV1['transport'];
}

/** Connects a client of the v1 SDK. */
export async function connectV1(target: Target, options: RawOptions = {}): Promise<RawV1> {
  const client = new Client(INFO, { capabilities: options.elicitation ? { elicitation: {} } : {} });
  if (options.elicitation) {
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { ok: true } }));
  }
  const transport = transportV1(target, options);
  const raw = watched(client, transport);
  await connected(() => client.connect(transport, { timeout: options.timeoutMs ?? 5_000 }), transport);
  return raw;
}

/** Connects a client of the v2 SDK: by the 2025 handshake, or pinned to revision 2026-07-28. */
export async function connectV2(
  target: Target,
  mode: 'legacy' | 'auto' | '2026-07-28' = 'legacy',
  options: RawOptions = {},
): Promise<RawV2> {
  const client = new ClientV2(INFO, {
    capabilities: options.elicitation ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode: mode === '2026-07-28' ? { pin: mode } : mode },
  });
  if (options.elicitation) {
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { ok: true } }));
  }
  const transport = transportV2(target, options);
  const raw = watched(client, transport);
  await connected(() => client.connect(transport, { timeout: options.timeoutMs ?? 5_000 }), transport);
  return raw;
}

/** A transport of the v2 SDK for a target. */
export function transportV2(target: Target, options: RawOptions = {}): TransportV2 {
  if ('command' in target) {
    return new StdioV2({ command: target.command, args: target.args, stderr: 'pipe' });
  }
  const url = target instanceof URL ? target : target.url;
  const init = {
    ...(options.fetch && { fetch: options.fetch }),
    ...(options.headers && { requestInit: { headers: options.headers } }),
  };
  return url.pathname.endsWith('/sse') ? new SseV2(url, init) : new HttpV2(url, init);
}

interface Hooks {
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  close(): Promise<void>;
}

function watched<C extends Hooks, T>(client: C, transport: T): Raw<C, T> {
  const raw: Raw<C, T> = {
    client,
    transport,
    errors: [],
    closes: 0,
    [Symbol.asyncDispose]: () => client.close(),
  };
  client.onerror = (error) => void raw.errors.push(error);
  client.onclose = () => {
    raw.closes++;
  };
  return raw;
}

/** A connect that fails leaves an EventSource or a child behind, unless the transport is closed. */
async function connected(connect: () => Promise<void>, transport: { close(): Promise<void> }): Promise<void> {
  try {
    await connect();
  } catch (error) {
    await transport.close();
    throw error;
  }
}
