/**
 * A low-level session with a client's method names. A client of SDK v2 is one as it is; on any other session only
 * `request()` is called. The result schemas are those of SDK v1, loaded on the first call; v2 has its own for each
 * revision.
 */
import { isSchemaOrNone } from '../call-arguments.ts';
import {
  type Callable,
  type CallOptions,
  type ClientShape,
  isVersion2,
  negotiatedVersionOf,
  type SessionShape,
} from './client-shape.ts';

type Schemas = typeof import('@modelcontextprotocol/sdk/types.js');

type SchemaName = Extract<keyof Schemas, `${string}ResultSchema`>;

let schemas: Promise<Schemas> | undefined;

export function sessionAsClient(session: SessionShape): ClientShape {
  const hasResultChecks = isVersion2(session);
  if (hasResultChecks && typeof (session as Partial<ClientShape>).callTool === 'function') {
    return session as ClientShape;
  }
  const { request } = session as unknown as Callable<SessionShape>;

  async function ask(method: string, params: unknown, schema: SchemaName, options: unknown) {
    const message = params === undefined ? { method } : { method, params };
    if (hasResultChecks) return request.call(session, message, options);
    schemas ??= import('@modelcontextprotocol/sdk/types.js');
    return request.call(session, message, (await schemas)[schema], options);
  }

  const client = {
    get transport() {
      return session.transport;
    },
    request: (...args: unknown[]) => request.apply(session, args),
    ping: (options?: CallOptions) => ask('ping', undefined, 'EmptyResultSchema', options),
    callTool(params: unknown, second?: unknown, third?: unknown) {
      if (second !== undefined && isSchemaOrNone(second)) {
        return request.call(session, { method: 'tools/call', params }, second, third);
      }
      return ask('tools/call', params, 'CallToolResultSchema', second ?? third);
    },
    listTools: (params?: unknown, options?: CallOptions) =>
      ask('tools/list', params, 'ListToolsResultSchema', options),
    listPrompts: (params?: unknown, options?: CallOptions) =>
      ask('prompts/list', params, 'ListPromptsResultSchema', options),
    listResources: (params?: unknown, options?: CallOptions) =>
      ask('resources/list', params, 'ListResourcesResultSchema', options),
    listResourceTemplates: (params?: unknown, options?: CallOptions) =>
      ask('resources/templates/list', params, 'ListResourceTemplatesResultSchema', options),
    getPrompt: (params: unknown, options?: CallOptions) =>
      ask('prompts/get', params, 'GetPromptResultSchema', options),
    readResource: (params: unknown, options?: CallOptions) =>
      ask('resources/read', params, 'ReadResourceResultSchema', options),
    complete: (params: unknown, options?: CallOptions) =>
      ask('completion/complete', params, 'CompleteResultSchema', options),
    setLoggingLevel: (level: string, options?: CallOptions) =>
      ask('logging/setLevel', { level }, 'EmptyResultSchema', options),
    subscribeResource: (params: unknown, options?: CallOptions) =>
      ask('resources/subscribe', params, 'EmptyResultSchema', options),
    unsubscribeResource: (params: unknown, options?: CallOptions) =>
      ask('resources/unsubscribe', params, 'EmptyResultSchema', options),
    // A session has no high-level state, and it is never closed here.
    getServerCapabilities: () => undefined,
    getServerVersion: () => undefined,
    getInstructions: () => undefined,
    getNegotiatedProtocolVersion: () => negotiatedVersionOf(session),
    close: () => Promise.resolve(),
  };
  // Marks the version for those who have to know it.
  if (hasResultChecks) {
    const discover = (options?: CallOptions) => request.call(session, { method: 'server/discover' }, options);
    Object.assign(client, { discover });
  }
  return client as unknown as ClientShape;
}
