/** The SDK `Client`'s method names, parameters and results, so that a handle stands where a client stood. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { ASKS, type Ask } from './asks.ts';
import { isSchemaOrNone } from './call-arguments.ts';
import { OPERATIONS, type OperationSpec, operationOf } from './operations.ts';
import { type Callable, type CallOptions, type ClientShape, eraOf } from './transports/client-shape.ts';

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
  /**
   * The revision that was negotiated last, such as `2025-11-25`, also while the connection is lost. Undefined before
   * that, and where the client does not tell: SDK v1 does so over Streamable HTTP only.
   */
  getNegotiatedProtocolVersion(): string | undefined;
  /** `modern` from revision 2026-07-28 on; undefined where the revision is. */
  getProtocolEra(): 'legacy' | 'modern' | undefined;
}

export abstract class ClientMethodsBase {
  /** Sends one operation, and does what has to be done when that fails. */
  protected abstract perform(
    spec: OperationSpec,
    ask: Ask,
    params: unknown,
    options: CallOptions | undefined,
    schema?: unknown,
  ): Promise<unknown>;
  protected abstract lastClient(): Callable<ClientShape> | undefined;
  /** What was negotiated with it. */
  protected abstract lastProtocolVersion(): string | undefined;

  ping(options?: CallOptions) {
    return this.perform(OPERATIONS.ping, ASKS.ping, undefined, options);
  }

  callTool(params: unknown, second?: unknown, third?: unknown) {
    const { callTool } = OPERATIONS;
    if (isSchemaOrNone(second)) {
      return this.perform(callTool, ASKS.callTool, params, third as CallOptions | undefined, second);
    }
    return this.perform(callTool, ASKS.callTool, params, second as CallOptions);
  }

  request(request: { method: string; params?: unknown }, second?: unknown, third?: unknown) {
    const [schema, options] = isSchemaOrNone(second) ? [second, third] : [undefined, second];
    const spec = operationOf(request.method);
    return this.perform(spec, ASKS.request, request.params, options as CallOptions | undefined, schema);
  }

  setLoggingLevel(level: string, options?: CallOptions) {
    return this.perform(OPERATIONS.setLoggingLevel, ASKS.setLoggingLevel, level, options);
  }

  listTools(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listTools, ASKS.listTools, params, options);
  }

  listPrompts(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listPrompts, ASKS.listPrompts, params, options);
  }

  listResources(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listResources, ASKS.listResources, params, options);
  }

  listResourceTemplates(params?: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.listResourceTemplates, ASKS.listResourceTemplates, params, options);
  }

  getPrompt(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.getPrompt, ASKS.getPrompt, params, options);
  }

  readResource(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.readResource, ASKS.readResource, params, options);
  }

  complete(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.complete, ASKS.complete, params, options);
  }

  subscribeResource(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.subscribeResource, ASKS.subscribeResource, params, options);
  }

  unsubscribeResource(params: unknown, options?: CallOptions) {
    return this.perform(OPERATIONS.unsubscribeResource, ASKS.unsubscribeResource, params, options);
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

  getNegotiatedProtocolVersion() {
    return this.lastProtocolVersion();
  }

  getProtocolEra() {
    const version = this.lastProtocolVersion();
    return version === undefined ? undefined : eraOf(version);
  }
}
