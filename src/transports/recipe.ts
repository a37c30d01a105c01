/** Recipes for owned connections: a transport description or a `connect` function, made into a connected client. */
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { ClientCapabilities, Implementation } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation';
import type { SignedFetch } from '../authorization/signed-fetch.ts';
import { quietly } from '../quietly.ts';
import type { StdioDescription } from './stdio.ts';
import type { WireMonitor } from './wire-monitor.ts';

export interface HttpDescription {
  /** The MCP endpoint, absolute. */
  readonly url: string | URL;
  /** Sent with every request; never logged. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Signs in with it, one flow at a time for all connections that share it. It is never modified. */
  readonly authProvider?: OAuthClientProvider | undefined;
  /** Used in place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

/** SDK v2, which `mcp-steward/sdk-2` exports: by shape, so that its types are needed only where it is used. */
export interface Sdk2 {
  readonly Client: new (...args: never[]) => object;
  readonly SSEClientTransport: new (...args: never[]) => object;
  readonly StreamableHTTPClientTransport: new (...args: never[]) => object;
}

/** How SDK v2 finds out which revision of MCP a server speaks. */
export interface VersionNegotiation {
  /**
   * `auto` (default, but over legacy SSE): `server/discover` first, and the handshake of 2025 with a server that does not know it.
   * `legacy`: that handshake only. `pin`: this revision, from 2026-07-28 on, or none.
   */
  readonly mode?: 'auto' | 'legacy' | { readonly pin: string } | undefined;
  /** `timeoutMs` of `server/discover`: over stdio a third of `connectTimeoutMs` by default, else all of it. */
  readonly probe?: {
    readonly timeoutMs?: number | undefined;
    readonly maxRetries?: number | undefined;
  };
}

type ByVersion1 = { readonly sdk?: undefined; readonly versionNegotiation?: undefined };
type ByVersion2 = { readonly sdk: Sdk2; readonly versionNegotiation?: VersionNegotiation | undefined };

export type OwnedTransport =
  /** `http`: Streamable HTTP. `sse`: the HTTP+SSE transport of revision 2024-11-05. */
  (
    | ({ readonly kind: 'http' | 'sse' } & HttpDescription)
    /** A child process. Needs Node. */
    | ({ readonly kind: 'stdio' } & StdioDescription)
  ) &
    (ByVersion1 | ByVersion2);

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

/** Both versions construct their transports in the same way. */
type Loaded<Name extends keyof typeof MODULES> = Awaited<ReturnType<(typeof MODULES)[Name]>>;

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
  signed: SignedFetch | undefined,
): Promise<Transport> {
  if (description.kind === 'stdio') {
    const { StdioTransport } = await MODULES.stdio();
    return new StdioTransport(description, closeLimitMs);
  }
  const { url, headers, fetch: base = globalThis.fetch, sdk } = description;
  const options = {
    fetch: monitor.watchFetch(signed?.fetch ?? base, description.kind),
    ...(headers === undefined ? {} : { requestInit: { headers } }),
  };
  if (description.kind === 'sse') {
    const { SSEClientTransport } = (sdk as Loaded<'sse'> | undefined) ?? (await MODULES.sse());
    return new SSEClientTransport(new URL(url), options);
  }
  const { StreamableHTTPClientTransport } = (sdk as Loaded<'http'> | undefined) ?? (await MODULES.http());
  return new StreamableHTTPClientTransport(new URL(url), options) as Transport;
}

/** During the handshake too, a hook of the host's that throws harms nobody. */
function guardHooks(client: Client): void {
  const { onclose, onerror } = client;
  if (onclose) client.onclose = () => quietly(() => onclose.call(client));
  if (onerror) client.onerror = (error) => quietly(() => onerror.call(client, error));
}

/** Before its handshake. */
export async function makeClient(
  identity: Identity,
  { sdk }: OwnedTransport,
  versionNegotiation: VersionNegotiation,
): Promise<Client> {
  const client =
    sdk === undefined
      ? await clientOfVersion1(identity)
      : clientOfVersion2(identity, sdk, versionNegotiation);
  await identity.setup?.(client);
  guardHooks(client);
  return client;
}

function clientOfVersion2(
  { clientInfo, capabilities }: Identity,
  sdk: Sdk2,
  versionNegotiation: VersionNegotiation,
): Client {
  // What is called on it is the same in both versions.
  const Version2 = sdk.Client as new (clientInfo: Implementation, options: object) => Client;
  return new Version2(clientInfo, { versionNegotiation, ...(capabilities && { capabilities }) });
}

async function clientOfVersion1({ clientInfo, capabilities }: Identity): Promise<Client> {
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
  return new Client(clientInfo, {
    jsonSchemaValidator,
    ...(capabilities === undefined ? {} : { capabilities }),
  });
}
