/** How each operation is asked of an SDK client. Functions made once, so that a call makes none. */
import type { Call } from './call.ts';
import { type Callable, type CallOptions, type ClientShape, isVersion2 } from './transports/client-shape.ts';

export type Ask = (
  client: Callable<ClientShape>,
  call: Call,
  options: CallOptions | undefined,
) => Promise<unknown>;

export const ASKS = {
  ping: (client, _call, options) => client.ping(options),
  listTools: (client, { params }, options) => client.listTools(params, options),
  listPrompts: (client, { params }, options) => client.listPrompts(params, options),
  listResources: (client, { params }, options) => client.listResources(params, options),
  listResourceTemplates: (client, { params }, options) => client.listResourceTemplates(params, options),
  getPrompt: (client, { params }, options) => client.getPrompt(params, options),
  readResource: (client, { params }, options) => client.readResource(params, options),
  complete: (client, { params }, options) => client.complete(params, options),
  setLoggingLevel: (client, { params }, options) => client.setLoggingLevel(params, options),
  subscribeResource: (client, { params }, options) => client.subscribeResource(params, options),
  unsubscribeResource: (client, { params }, options) => client.unsubscribeResource(params, options),

  callTool(client, { params, schema }, options) {
    // v2 has no schema here: it checks the result itself, by the tool's own schema and the negotiated revision.
    if (isVersion2(client)) return client.callTool(params, options);
    return client.callTool(params, schema, options);
  },

  request(client, { spec, params, schema }, options) {
    const request = params === undefined ? { method: spec.method } : { method: spec.method, params };
    if (schema !== undefined) return client.request(request, schema, options);
    if (isVersion2(client)) return client.request(request, options);
    // v1 would send it first, and then fail on its answer.
    throw new TypeError('request(): a client of SDK v1 needs the result schema as the second argument');
  },
} as const satisfies Record<string, Ask>;
