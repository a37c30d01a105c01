/** What is told of a call before it is sent. A tool's or a prompt's name is all that is taken of its parameters. */
import type { Attributes } from '@opentelemetry/api';
import type { CallFacts } from '../telemetry.ts';
import {
  CONNECTION,
  KIND,
  MCP_METHOD,
  NETWORK_PROTOCOL,
  NETWORK_TRANSPORT,
  OPERATION_NAME,
  OWNERSHIP,
  PROMPT_NAME,
  TOOL_NAME,
} from './attributes.ts';

const TARGETS: Readonly<Record<string, string>> = { 'tools/call': TOOL_NAME, 'prompts/get': PROMPT_NAME };

export interface CallDescription {
  readonly name: string;
  readonly attributes: Attributes;
}

export function describeCall(call: CallFacts): CallDescription {
  const { connection, ownership, transport, method, kind, params } = call;
  const attributes: Attributes = {
    [MCP_METHOD]: method,
    [CONNECTION]: connection,
    [OWNERSHIP]: ownership,
    [KIND]: kind,
    ...network(transport),
  };
  if (method === 'tools/call') attributes[OPERATION_NAME] = 'execute_tool';
  const targetName = TARGETS[method];
  const target = (params as { name?: unknown } | undefined)?.name;
  if (targetName === undefined || typeof target !== 'string') return { name: method, attributes };
  attributes[targetName] = target;
  return { name: `${method} ${target}`, attributes };
}

function network(transport: CallFacts['transport']): Attributes {
  if (transport === undefined) return {};
  if (transport === 'stdio') return { [NETWORK_TRANSPORT]: 'pipe' };
  return { [NETWORK_TRANSPORT]: 'tcp', [NETWORK_PROTOCOL]: 'http' };
}
