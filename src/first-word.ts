/**
 * A `connect` may have sent nothing (SDK v2 with `prior`, a transport with the id of an old session), and then its client
 * is no sign that there is a server. One request asks for one.
 */
import { classify } from './evidence/classify.ts';
import { type ErrorShape, shapeOf } from './evidence/error-shape.ts';
import { NO_CALL } from './evidence/failure.ts';
import { carried } from './generation.ts';
import { OPERATIONS } from './operations.ts';
import {
  type Callable,
  type ClientShape,
  isVersion2,
  requestsOfACall,
  type TransportShape,
} from './transports/client-shape.ts';

export interface FirstWordOptions {
  /** Milliseconds. Silence for so long is no refusal. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Where our `fetch` was not used: both SDKs know the capabilities of a server that answered `initialize`. What a client
 * of 2026-07-28 knows, it may have been given.
 */
export function showsAnAnswer(client: ClientShape): boolean {
  if (isVersion2(client) && requestsOfACall(client) === 'several') return false;
  return client.getServerCapabilities() !== undefined;
}

/** Rejects with the server's refusal, or with what kept the request from it. */
export async function awaitFirstWord(
  client: Callable<ClientShape>,
  transport: TransportShape,
  options: FirstWordOptions,
): Promise<void> {
  try {
    // Revision 2026-07-28 has no `ping`.
    if (requestsOfACall(client) === 'several') {
      await client.request({ method: OPERATIONS.discover.method }, options);
    } else await client.ping(options);
  } catch (error) {
    if (options.signal.aborted || refuses(error, client, transport)) throw error;
  }
}

function refuses(
  error: unknown,
  { transport }: { transport?: unknown },
  { sessionId }: TransportShape,
): boolean {
  const shape = shapeOf(error);
  const { connection, cause } = classify({
    ...NO_CALL,
    error: shape,
    session: carried(sessionId),
    transportClosed: transport === undefined,
    trust404: true,
  });
  if (cause === 'timeout' || cause === 'unsupported') return false;
  return connection !== 'usable' || !isOfTheServer(shape);
}

/** An MCP server wrote it, and not a gateway, nor one that asks for credentials. */
function isOfTheServer({ isRpc, status = 0, body }: ErrorShape): boolean {
  return isRpc || (body !== undefined && [400, 404].includes(status));
}
