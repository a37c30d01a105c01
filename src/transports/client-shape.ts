/**
 * The SDK's objects by shape. A v2 client or a second copy of the SDK works wherever a client is supplied,
 * so nothing here is checked with `instanceof`.
 */

import type { ListenFilter } from './subscriptions.ts';

export interface JsonRpcMessage {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | undefined;
  readonly method?: string | undefined;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown } | undefined;
}

export interface SendOptions {
  readonly onresumptiontoken?: ((token: string) => void) | undefined;
  /** SDK v2 only: of one request. */
  readonly headers?: object | undefined;
  /** The same: the client does not want its stream any more. */
  readonly requestSignal?: AbortSignal | undefined;
  /** The same: called when its stream has ended and is not resumed. */
  readonly onRequestStreamEnd?: (() => void) | undefined;
}

export interface TransportShape {
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  close(): Promise<void>;
  onmessage?: ((message: never, extra?: never) => void) | undefined;
  readonly sessionId?: string | undefined;
  /** Streamable HTTP only: sends the DELETE that ends the session. */
  terminateSession?(): Promise<void>;
  setProtocolVersion?(version: string): void;
}

/** What every call passes on to the SDK. */
export interface CallOptions {
  readonly timeout?: number | undefined;
  readonly maxTotalTimeout?: number | undefined;
  readonly resetTimeoutOnProgress?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onprogress?: ((progress: never) => void) | undefined;
  readonly onresumptiontoken?: ((token: string) => void) | undefined;
  /** SDK v2 only. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

type Method = (...args: never[]) => Promise<unknown>;

/** A low-level session: anything with the SDK's `request()`. */
export interface SessionShape {
  request: Method;
  readonly transport?: unknown;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** A high-level client, v1 or v2. */
export interface ClientShape extends SessionShape {
  close(): Promise<void>;
  ping: Method;
  callTool: Method;
  listTools: Method;
  listPrompts: Method;
  listResources: Method;
  listResourceTemplates: Method;
  getPrompt: Method;
  readResource: Method;
  complete: Method;
  setLoggingLevel: Method;
  subscribeResource: Method;
  unsubscribeResource: Method;
  getServerCapabilities(): unknown;
  getServerVersion(): unknown;
  getInstructions(): string | undefined;
}

/** What a client of SDK v2 shows of the stream that its option `listChanged` has opened. */
export interface ListeningClient {
  readonly autoOpenedSubscription?:
    | { readonly honoredFilter: ListenFilter; readonly closed: Promise<'local' | 'remote' | 'graceful'> }
    | undefined;
  readonly listen?: ((filter: ListenFilter) => Promise<unknown>) | undefined;
}

/** Its methods, callable with what the handle was given. */
export type Callable<T> = {
  [K in keyof T]: T[K] extends Method ? (...args: unknown[]) => Promise<unknown> : T[K];
};

/** Only transports over HTTP have to know the protocol version, for its header (both SDK versions). */
export function isOverHttp(transport: TransportShape): boolean {
  return transport.setProtocolVersion !== undefined;
}

/** Streamable HTTP without a session: there is none to lose, and any request may go to whoever answers now. */
export function hasNoSession({ terminateSession, sessionId }: TransportShape): boolean {
  return terminateSession !== undefined && sessionId === undefined;
}

/**
 * The last `retry` that Streamable HTTP read on any of its streams, in milliseconds; 0 without one. A private field in
 * both SDK versions, for which each stream would have to be parsed twice otherwise.
 */
export function retryMsOf(transport: TransportShape | undefined): number {
  return (transport as { _serverRetryMs?: number } | undefined)?._serverRetryMs ?? 0;
}

export function transportOf(client: SessionShape): TransportShape | undefined {
  return client.transport as TransportShape | undefined;
}

/** v2 dropped the result schema from `callTool`; `discover` is what only v2 has. */
export function isVersion2(client: object): boolean {
  return typeof (client as { discover?: unknown }).discover === 'function';
}

/**
 * The revision that was negotiated, such as `2025-11-25`; undefined where neither the client nor its transport tells,
 * as in SDK v1 over anything but Streamable HTTP.
 */
export function negotiatedVersionOf(client: object): string | undefined {
  const { getNegotiatedProtocolVersion, transport } = client as {
    getNegotiatedProtocolVersion?: () => unknown;
    transport?: { readonly protocolVersion?: unknown };
  };
  const version = getNegotiatedProtocolVersion?.call(client) ?? transport?.protocolVersion;
  // It goes to logs and to pages, and a supplied object may return anything.
  return typeof version === 'string' && /^\d{4}-\d\d-\d\d$/.test(version) ? version : undefined;
}

/** The names that SDK v2 gives: `modern` has no handshake and no session. */
export function eraOf(version: string): 'legacy' | 'modern' {
  return version >= '2026' ? 'modern' : 'legacy';
}

/**
 * From 2026-07-28 on, one call may be several requests: the server can ask for input in between. `unseen`: the object
 * does not show its version, and is no client or session of SDK v1.
 */
export function requestsOfACall(client: object): 'one' | 'several' | 'unseen' {
  const { getNegotiatedProtocolVersion, setRequestHandler } = client as {
    getNegotiatedProtocolVersion?: () => unknown;
    setRequestHandler?: unknown;
  };
  if (getNegotiatedProtocolVersion === undefined) return setRequestHandler === undefined ? 'unseen' : 'one';
  const version = getNegotiatedProtocolVersion.call(client);
  return typeof version === 'string' && eraOf(version) === 'modern' ? 'several' : 'one';
}

/** Both SDK versions drop `transport` when the connection closes. A session without the field is taken at its word. */
export function isConnected(supplied: SessionShape): boolean {
  return !('transport' in supplied) || supplied.transport !== undefined;
}
