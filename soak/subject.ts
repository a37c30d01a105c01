/** What the soak is run on: ours, or the wrapper that shows that its oracle can fail. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

export type Target =
  | HttpTarget
  | { readonly kind: 'stdio'; readonly command: string; readonly args: string[] };

export interface HttpTarget {
  readonly kind: 'http' | 'sse';
  readonly url: string;
  /** It speaks revision 2026-07-28. */
  readonly isModern: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface AskOptions {
  readonly timeout: number;
  /** The same: a call of several requests has one deadline. */
  readonly maxTotalTimeout: number;
  readonly signal?: AbortSignal;
}

/** One connection, as its callers see it. */
export interface Line {
  /** `ready`: a call is sent at once. */
  readonly state: string;
  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    schema: undefined,
    options: AskOptions,
  ): Promise<unknown>;
  readResource(params: { uri: string }, options: AskOptions): Promise<unknown>;
  listTools(params: { cursor: string }, options: AskOptions): Promise<unknown>;
  ping(options: AskOptions): Promise<unknown>;
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

/** What a connection says of itself, for the oracle to compare. */
export interface Watcher {
  transition(connection: string, from: string, to: string): void;
  recreated(connection: string, generation: number): void;
}

export interface Subject {
  /** `name` is used once. */
  open(name: string, target: Target): Line;
  close(): Promise<void>;
}

export const CLIENT_INFO = { name: 'soak', version: '1.0.0' };
export const CAPABILITIES = { sampling: {}, elicitation: {}, roots: {} };

/** The tool that may be called twice. */
export const SAFE_TOOL = 'search';

/** The host answers what servers ask. */
export function answerQuestions(client: Client): void {
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { ok: true } }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'This one.' },
  }));
}
