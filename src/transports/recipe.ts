/** Recipes for owned connections: a transport description or a `connect` function, made into a connected client. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import { quietly } from '../quietly.ts';
import type { StdioDescription } from './stdio.ts';
import type { WireMonitor } from './wire-monitor.ts';

export interface HttpDescription {
  /** The MCP endpoint, absolute. */
  readonly url: string | URL;
  /** Sent with every request; never logged. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly authProvider?: OAuthClientProvider | undefined;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export type OwnedTransport =
  /** Streamable HTTP. */
  | ({ readonly kind: 'http' } & HttpDescription)
  /** The HTTP+SSE transport of revision 2024-11-05. */
  | ({ readonly kind: 'sse' } & HttpDescription)
  /** A child process. Needs Node. */
  | ({ readonly kind: 'stdio' } & StdioDescription);

export interface TransportContext {
  /**
   * A `fetch` that the supervisor watches. Give it to an HTTP transport of your own, and a call whose answer can
   * no longer come is settled at once instead of at its timeout.
   */
  readonly fetch: typeof fetch;
}

/** Who the supervisor is, towards every server. */
export interface Identity {
  readonly clientInfo: Implementation;
  readonly capabilities: ClientCapabilities | undefined;
  /** Runs on every new client before its handshake: the place for request and notification handlers. */
  readonly setup: ((client: Client) => void | Promise<void>) | undefined;
}

/** Loaded on the first dial, so that importing this package does not load them; and once, for each dial is in a hurry. */
const MODULES = {
  client: once(() => import('@modelcontextprotocol/sdk/client/index.js')),
  validator: once(() => import('@modelcontextprotocol/sdk/validation/ajv')),
  http: once(() => import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
  sse: once(() => import('@modelcontextprotocol/sdk/client/sse.js')),
  stdio: once(() => import('./stdio.ts')),
} as const;

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

/** Before the first dial, for who measures it. */
export async function preload(kinds: readonly OwnedTransport['kind'][]): Promise<void> {
  await Promise.all((['client', 'validator', ...kinds] as const).map((name) => MODULES[name]()));
}

export async function makeTransport(
  description: OwnedTransport,
  monitor: WireMonitor,
  closeLimitMs: number,
): Promise<Transport> {
  if (description.kind === 'stdio') {
    const { StdioTransport } = await MODULES.stdio();
    return new StdioTransport(description, closeLimitMs);
  }
  const { url, headers, authProvider, fetch: base = globalThis.fetch } = description;
  const options = {
    fetch: monitor.watchFetch(base, description.kind),
    ...(headers === undefined ? {} : { requestInit: { headers } }),
    ...(authProvider === undefined ? {} : { authProvider }),
  };
  if (description.kind === 'sse') {
    const { SSEClientTransport } = await MODULES.sse();
    return new SSEClientTransport(new URL(url), options);
  }
  const { StreamableHTTPClientTransport } = await MODULES.http();
  return new StreamableHTTPClientTransport(new URL(url), options) as Transport;
}

/** During the handshake too, a hook of the host's that throws harms nobody. */
function guardHooks(client: Client): void {
  const { onclose, onerror } = client;
  if (onclose) client.onclose = () => quietly(() => onclose.call(client));
  if (onerror) client.onerror = (error) => quietly(() => onerror.call(client, error));
}

export async function makeClient({ clientInfo, capabilities, setup }: Identity): Promise<Client> {
  const { Client } = await MODULES.client();
  const { AjvJsonSchemaValidator } = await MODULES.validator();
  // Setting up Ajv takes longer than all the rest of a dial, and only the schema of an output needs it.
  let validator: InstanceType<typeof AjvJsonSchemaValidator> | undefined;
  const jsonSchemaValidator: jsonSchemaValidator = {
    getValidator: (schema) => {
      validator ??= new AjvJsonSchemaValidator();
      return validator.getValidator(schema);
    },
  };
  const client = new Client(clientInfo, {
    jsonSchemaValidator,
    ...(capabilities === undefined ? {} : { capabilities }),
  });
  await setup?.(client);
  guardHooks(client);
  return client;
}
