/** The errors of both SDKs, made with their own classes, as facts measured them; and of `fetch` and Node. */
import {
  InsufficientScopeError,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError as UnauthorizedV2,
} from '@modelcontextprotocol/client';
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { JSONRPCMessageSchema, McpError } from '@modelcontextprotocol/sdk/types.js';

export const v1 = {
  http: (status: number, body = '') => new StreamableHTTPError(status, `Error POSTing to endpoint: ${body}`),
  notMcp: () => new StreamableHTTPError(-1, 'Unexpected content type: text/html'),
  rpc: (code: number, message: string, data?: unknown) => new McpError(code, message, data),
  timeout: () => new McpError(-32001, 'Request timed out', { timeout: 60_000 }),
  totalTimeout: () =>
    new McpError(-32001, 'Maximum total timeout exceeded', { maxTotalTimeout: 100, totalElapsed: 120 }),
  aborted: () => new McpError(-32001, 'AbortError: This operation was aborted'),
  closed: () => new McpError(-32000, 'Connection closed'),
  unauthorized: () => new UnauthorizedV1('Unauthorized'),
};

export const v2 = {
  http: (status: number, text = '', statusText?: string) =>
    new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${text}`, {
      status,
      statusText,
      text,
    } as ConstructorParameters<typeof SdkHttpError>[2]),
  notMcp: () =>
    new SdkError(SdkErrorCode.ClientHttpUnexpectedContent, 'Unexpected content type: text/html', {
      contentType: 'text/html',
    }),
  rpc: (code: number, message: string, data?: unknown) => new ProtocolError(code, message, data),
  timeout: () => new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', { timeout: 60_000 }),
  aborted: () => new SdkError(SdkErrorCode.RequestTimeout, 'AbortError: This operation was aborted'),
  closed: () => new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'),
  unauthorized: () => new UnauthorizedV2('Unauthorized'),
  authentication: () =>
    new SdkHttpError(SdkErrorCode.ClientHttpAuthentication, 'Authentication required', { status: 401 }),
  insufficientScope: () => new InsufficientScopeError({ requiredScope: 'files:write' }),
  wrongEra: () =>
    new SdkError(SdkErrorCode.MethodNotSupportedByProtocolVersion, 'ping is not part of revision 2026-07-28'),
  noCapability: () => new SdkError(SdkErrorCode.CapabilityNotSupported, 'Server does not support prompts'),
  sdk: (code: SdkErrorCode, message: string, cause?: unknown) =>
    new SdkError(code, message, undefined, cause === undefined ? undefined : { cause }),
  eraHttp: (status: number) =>
    new SdkHttpError(SdkErrorCode.EraNegotiationFailed, 'The server could not be asked', { status }),
  missingCapability: () =>
    new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } }),
};

/** The one plain error that both SDKs throw for a refused POST of legacy SSE. */
export const ssePost = (status: number, body = '') =>
  new Error(`Error POSTing to endpoint (HTTP ${status}): ${body}`);

export const rpcBody = (code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null });

export const system = (code: string | undefined, syscall?: string) =>
  Object.assign(
    new Error(`${syscall ?? 'some'} ${code}`),
    code === undefined ? {} : { code },
    syscall === undefined ? {} : { syscall },
  );

/** What `fetch` rejects with. */
export const fetchFailed = (cause: unknown) => new TypeError('fetch failed', { cause });
export const terminated = (cause: unknown) => new TypeError('terminated', { cause });

export function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('it should have thrown');
}

export const syntaxError = () => thrownBy(() => JSON.parse('{"jsonrpc":'));
export const schemaError = () => thrownBy(() => JSONRPCMessageSchema.parse({ jsonrpc: '2.0', id: null }));
