/** Every MCP request that a host makes: its kind and its replay policy. */
import type { OperationKind, ReplayPolicy } from '../machines/vocabulary.ts';

export interface OperationSpec {
  readonly method: string;
  readonly kind: OperationKind;
  readonly policy: ReplayPolicy;
}

function operation(method: string, kind: OperationKind, policy: ReplayPolicy): OperationSpec {
  return { method, kind, policy };
}

export const OPERATIONS = {
  ping: operation('ping', 'liveness', 'safe'),
  discover: operation('server/discover', 'liveness', 'safe'),
  listTools: operation('tools/list', 'discovery', 'safe'),
  listPrompts: operation('prompts/list', 'discovery', 'safe'),
  listResources: operation('resources/list', 'discovery', 'safe'),
  listResourceTemplates: operation('resources/templates/list', 'discovery', 'safe'),
  callTool: operation('tools/call', 'tool', 'if-unsent'),
  getPrompt: operation('prompts/get', 'prompt', 'safe'),
  readResource: operation('resources/read', 'resource', 'safe'),
  complete: operation('completion/complete', 'completion', 'safe'),
  setLoggingLevel: operation('logging/setLevel', 'logging', 'safe'),
  subscribeResource: operation('resources/subscribe', 'subscription', 'safe'),
  unsubscribeResource: operation('resources/unsubscribe', 'subscription', 'safe'),
  getTask: operation('tasks/get', 'task', 'safe'),
  getTaskResult: operation('tasks/result', 'task', 'safe'),
  listTasks: operation('tasks/list', 'task', 'safe'),
  cancelTask: operation('tasks/cancel', 'task', 'safe'),
} as const;

const BY_METHOD = new Map<string, OperationSpec>(
  Object.values(OPERATIONS).map((spec) => [spec.method, spec]),
);

/** The operation behind a raw `request()`. A method that is not known here may have any effect. */
export function operationOf(method: string): OperationSpec {
  return BY_METHOD.get(method) ?? operation(method, 'other', 'if-unsent');
}

/** What a host declares about the tools of one server. */
export interface ReplayOptions {
  /** Per tool name. `safe`: calling it twice does no harm. `never`: not even when it is proven unrun. */
  readonly tools?: Readonly<Record<string, ReplayPolicy>> | undefined;
  /**
   * Believe this server's annotations: a tool with `readOnlyHint: true` or `idempotentHint: true`, and without
   * the contradiction of `readOnlyHint` with `destructiveHint`, is safe. Default false: annotations are hints
   * from a server that may be untrusted (MCP specification, "Tool annotations").
   */
  readonly trustAnnotations?: boolean | undefined;
}

interface ToolAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
}

function isDeclaredHarmless(annotations: ToolAnnotations | undefined): boolean {
  if (annotations?.readOnlyHint === true) return annotations.destructiveHint !== true;
  return annotations?.idempotentHint === true;
}

/** Parameters of a request, as far as its policy depends on them. */
export interface PolicyFacts {
  /** The tool's name, for `tools/call`. */
  readonly tool?: string | undefined;
  /** The request creates a task. */
  readonly createsTask: boolean;
  /** The server has asked the host for input: to begin anew would ask a person again. */
  readonly askedForInput?: boolean | undefined;
}

export function policyOf(
  spec: OperationSpec,
  facts: PolicyFacts,
  replay: ReplayOptions,
  harmlessTools: ReadonlySet<string> | undefined,
): ReplayPolicy {
  if (facts.askedForInput) return 'never';
  const policy = toolPolicyOf(spec, facts.tool, replay, harmlessTools);
  // A lost answer would lose the task's id.
  return facts.createsTask && policy === 'safe' ? 'if-unsent' : policy;
}

function toolPolicyOf(
  spec: OperationSpec,
  tool: string | undefined,
  replay: ReplayOptions,
  harmlessTools: ReadonlySet<string> | undefined,
): ReplayPolicy {
  if (spec.method !== OPERATIONS.callTool.method || tool === undefined) return spec.policy;
  const declared = replay.tools && Object.hasOwn(replay.tools, tool) && replay.tools[tool];
  if (declared) return declared;
  return replay.trustAnnotations === true && harmlessTools?.has(tool) ? 'safe' : spec.policy;
}

/** What a server has said of its tools in the lists that went by. */
export class ToolAnnotationsSeen {
  readonly harmless = new Set<string>();

  note(listed: unknown): void {
    const { tools } = listed as { tools: { name: string; annotations?: ToolAnnotations }[] };
    for (const { name, annotations } of tools) {
      if (isDeclaredHarmless(annotations)) this.harmless.add(name);
      else this.harmless.delete(name);
    }
  }
}
