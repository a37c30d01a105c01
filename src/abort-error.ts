/** An abort by the caller while its operation waits, in the shape that the raw SDK gives it. */
import { isVersion2 } from './transports/client-shape.ts';

/** How SDK v2 tells its errors apart over copies of itself, for `instanceof`. */
const BRANDS = Symbol.for('mcp.sdk.errorBrands');

/** Loaded once: an abort is told at once, not after a module was asked for again. */
let types: Promise<typeof import('@modelcontextprotocol/sdk/types.js')> | undefined;

/** `beforeCall`: the signal was aborted when the operation was asked for. `client`: the last one, if there was any. */
export async function abortError(
  reason: unknown,
  client: object | undefined,
  beforeCall: boolean,
): Promise<unknown> {
  if (client !== undefined && isVersion2(client)) return version2Error(reason);
  if (beforeCall) return reason;
  types ??= import('@modelcontextprotocol/sdk/types.js');
  const { ErrorCode, McpError } = await types;
  return reason instanceof McpError ? reason : new McpError(ErrorCode.RequestTimeout, String(reason));
}

/** SDK v2 rejects what is pending when its connection closes; between two requests of a call nothing is. */
export function closedError(): Error {
  return sdkError('CONNECTION_CLOSED', 'Connection closed');
}

function version2Error(reason: unknown): unknown {
  return Object(reason).name === 'SdkError' ? reason : sdkError('REQUEST_TIMEOUT', String(reason));
}

/** By shape: SDK v2 is the host's, and not loaded here. */
function sdkError(code: string, message: string): Error {
  const error = Object.assign(new Error(message), { name: 'SdkError', code, data: undefined });
  return Object.defineProperty(error, BRANDS, { value: new Set(['mcp.SdkError']) });
}
