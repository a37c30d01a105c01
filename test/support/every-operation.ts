import type { ConnectionHandle, OperationKind } from '../../src/index.ts';

type Requests = Pick<
  ConnectionHandle,
  | 'ping'
  | 'listTools'
  | 'listPrompts'
  | 'listResources'
  | 'listResourceTemplates'
  | 'callTool'
  | 'getPrompt'
  | 'readResource'
  | 'complete'
  | 'setLoggingLevel'
  | 'subscribeResource'
  | 'unsubscribeResource'
>;

export interface OperationRow {
  readonly kind: OperationKind;
  /** On the wire. */
  readonly method: string;
  /** With an answer from the test server. `key` marks what it runs. */
  call(on: Requests, options?: { timeout?: number; signal?: AbortSignal }): Promise<unknown>;
}

/** Every MCP request of a handle, of every kind, with parameters that the test server answers. */
export const EVERY_OPERATION: readonly OperationRow[] = [
  { kind: 'liveness', method: 'ping', call: (on, o) => on.ping(o) },
  { kind: 'discovery', method: 'tools/list', call: (on, o) => on.listTools(undefined, o) },
  { kind: 'discovery', method: 'prompts/list', call: (on, o) => on.listPrompts(undefined, o) },
  { kind: 'discovery', method: 'resources/list', call: (on, o) => on.listResources(undefined, o) },
  {
    kind: 'discovery',
    method: 'resources/templates/list',
    call: (on, o) => on.listResourceTemplates(undefined, o),
  },
  {
    kind: 'tool',
    method: 'tools/call',
    call: (on, o) => on.callTool({ name: 'append', arguments: { key: 'every' } }, undefined, o),
  },
  {
    kind: 'prompt',
    method: 'prompts/get',
    call: (on, o) => on.getPrompt({ name: 'greet', arguments: { name: 'ada' } }, o),
  },
  { kind: 'resource', method: 'resources/read', call: (on, o) => on.readResource({ uri: 'text://one' }, o) },
  {
    kind: 'completion',
    method: 'completion/complete',
    call: (on, o) =>
      on.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'a' } }, o),
  },
  { kind: 'logging', method: 'logging/setLevel', call: (on, o) => on.setLoggingLevel('warning', o) },
  {
    kind: 'subscription',
    method: 'resources/subscribe',
    call: (on, o) => on.subscribeResource({ uri: 'text://one' }, o),
  },
  {
    kind: 'subscription',
    method: 'resources/unsubscribe',
    call: (on, o) => on.unsubscribeResource({ uri: 'text://one' }, o),
  },
];

/** SDK v2 refuses these locally at revision 2026-07-28. */
export const NOT_IN_2026: readonly string[] = [
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
];
