/** `mcp-steward/sdk-2`: SDK v2 for owned transports. Whoever does not import this loads nothing of that SDK. */
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Sdk2 } from './transports/recipe.ts';

/**
 * Given as `sdk` of an owned transport, it makes that connection with SDK v2.
 * @example
 * supervisor.own('files', { transport: { kind: 'http', url: 'http://127.0.0.1:3000/mcp', sdk: sdk2 } });
 */
export const sdk2: Sdk2 = { Client, SSEClientTransport, StreamableHTTPClientTransport };
