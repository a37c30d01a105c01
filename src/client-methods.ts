/** The SDK `Client`'s method names, parameters and results, so that a handle stands where a client stood. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { splitRequestArguments, splitToolArguments } from './call-arguments.ts';
import { OPERATIONS, type OperationSpec, operationOf } from './operations.ts';
import { type Callable, type CallOptions, type ClientShape, isVersion2 } from './transports/client-shape.ts';

export type Invoke = (client: Callable<ClientShape>, options: CallOptions | undefined) => Promise<unknown>;

type CallToolParams = Parameters<Client['callTool']>[0];
type CallToolResult = ReturnType<Client['callTool']>;
type ResultSchema = NonNullable<Parameters<Client['callTool']>[1]>;

/** The requests of an MCP client. */
export interface ClientMethods {
  ping: Client['ping'];
  listTools: Client['listTools'];
  listPrompts: Client['listPrompts'];
  listResources: Client['listResources'];
  listResourceTemplates: Client['listResourceTemplates'];
  getPrompt: Client['getPrompt'];
  readResource: Client['readResource'];
  complete: Client['complete'];
  setLoggingLevel: Client['setLoggingLevel'];
  subscribeResource: Client['subscribeResource'];
  unsubscribeResource: Client['unsubscribeResource'];
  request: Client['request'];
  /** SDK v1's order of arguments. */
  callTool(params: CallToolParams, resultSchema?: ResultSchema, options?: RequestOptions): CallToolResult;
  /** SDK v2's order of arguments. */
  callTool(params: CallToolParams, options?: RequestOptions): CallToolResult;
  /** What the server said in the last handshake, also while the connection is lost; undefined before the first. */
  getServerCapabilities: Client['getServerCapabilities'];
  getServerVersion: Client['getServerVersion'];
  getInstructions: Client['getInstructions'];
}

function callToolOn(
  client: Callable<ClientShape>,
  params: unknown,
  schema: unknown,
  options: CallOptions | undefined,
) {
  if (!isVersion2(client)) return client.callTool(params, schema, options);
  if (schema === undefined) return client.callTool(params, options);
  return client.request({ method: OPERATIONS.callTool.method, params }, schema, options);
}

/** v1 would send the request first, and then fail on its answer. */
function requestOn(
  client: Callable<ClientShape>,
  request: object,
  schema: unknown,
  options: CallOptions | undefined,
) {
  if (schema !== undefined) return client.request(request, schema, options);
  if (isVersion2(client)) return client.request(request, options);
  throw new TypeError('request(): a client of SDK v1 needs the result schema as the second argument');
}

export abstract class ClientMethodsBase {
  /** Sends one operation, and does what has to be done when that fails. */
  protected abstract perform(
    spec: OperationSpec,
    params: unknown,
    options: CallOptions | undefined,
    invoke: Invoke,
  ): Promise<unknown>;
  protected abstract lastClient(): Callable<ClientShape> | undefined;

  ping(options?: CallOptions) {
    return this.perform(OPERATIONS.ping, undefined, options, (client, o) => client.ping(o));
  }

  callTool(params: unknown, second?: unknown, third?: unknown) {
    const [schema, options] = splitToolArguments(second, third);
    return this.perform(OPERATIONS.callTool, params, options, (client, o) =>
      callToolOn(client, params, schema, o),
    );
  }

  listTools(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listTools, params, options, (client, o) => client.listTools(params, o));
  }

  listPrompts(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listPrompts, params, options, (client, o) =>
      client.listPrompts(params, o),
    );
  }

  listResources(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listResources, params, options, (client, o) =>
      client.listResources(params, o),
    );
  }

  listResourceTemplates(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listResourceTemplates, params, options, (client, o) =>
      client.listResourceTemplates(params, o),
    );
  }

  getPrompt(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.getPrompt, params, options, (client, o) => client.getPrompt(params, o));
  }

  readResource(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.readResource, params, options, (client, o) =>
      client.readResource(params, o),
    );
  }

  complete(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.complete, params, options, (client, o) => client.complete(params, o));
  }

  setLoggingLevel(level: string, options?: CallOptions) {
    return this.perform(OPERATIONS.setLoggingLevel, level, options, (client, o) =>
      client.setLoggingLevel(level, o),
    );
  }

  subscribeResource(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.subscribeResource, params, options, (client, o) =>
      client.subscribeResource(params, o),
    );
  }

  unsubscribeResource(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.unsubscribeResource, params, options, (client, o) =>
      client.unsubscribeResource(params, o),
    );
  }

  request(request: { method: string; params?: unknown }, second?: unknown, third?: unknown) {
    const [schema, options] = splitRequestArguments(second, third);
    return this.perform(operationOf(request.method), request.params, options, (client, o) =>
      requestOn(client, request, schema, o),
    );
  }

  getServerCapabilities() {
    return this.lastClient()?.getServerCapabilities();
  }

  getServerVersion() {
    return this.lastClient()?.getServerVersion();
  }

  getInstructions() {
    return this.lastClient()?.getInstructions();
  }
}
