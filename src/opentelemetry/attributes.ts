/** The names under which things are told: OpenTelemetry's conventions for MCP, and our own under one prefix. */

export const MCP_METHOD = 'mcp.method.name';
export const OPERATION_NAME = 'gen_ai.operation.name';
export const TOOL_NAME = 'gen_ai.tool.name';
export const PROMPT_NAME = 'gen_ai.prompt.name';
/** `pipe` or `tcp`. */
export const NETWORK_TRANSPORT = 'network.transport';
/** `http`, where it is over HTTP. */
export const NETWORK_PROTOCOL = 'network.protocol.name';
export const ERROR_TYPE = 'error.type';
export const RPC_STATUS = 'rpc.response.status_code';

export const CONNECTION = 'mcp_steward.connection';
export const OWNERSHIP = 'mcp_steward.ownership';
export const STATE = 'mcp_steward.state';
/** The generation that it was last sent on: of an answered call, the one that answered. */
export const GENERATION = 'mcp_steward.generation';
export const GENERATION_FROM = 'mcp_steward.generation.from';
export const GENERATION_TO = 'mcp_steward.generation.to';
export const KIND = 'mcp_steward.operation.kind';
export const SENDS = 'mcp_steward.sends';
/** Of the last send that failed, also where the call was answered after that; else of the dials that failed. */
export const CAUSE = 'mcp_steward.evidence.cause';
export const EXECUTION = 'mcp_steward.evidence.execution';
export const OUTCOME = 'mcp_steward.outcome';
/** How often it was dialled in one recreation. */
export const ATTEMPTS = 'mcp_steward.attempts';
/** Which dial of a recreation: 1, 2, 3 … */
export const ATTEMPT = 'mcp_steward.attempt';
