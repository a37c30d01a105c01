// The MCP server itself, the same over both transports. It speaks the few methods that are needed here: loading the
// SDK's server takes ten times as long as everything else that a process over stdio does in its life.

const TOOLS = [{ name: 'append' }, { name: 'read', annotations: { readOnlyHint: true } }].map((tool) => ({
  ...tool,
  description: 'Counts one run under its key.',
  inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
}));

const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;

/**
 * Answers a message, if it is a request.
 * @param {any} message
 * @param {(is: 'ran', facts: { key: string }) => void} note
 * @returns {object | undefined}
 */
export function answerTo({ id, method, params }, note) {
  if (id === undefined || method === undefined) return undefined;
  const result = (value) => ({ jsonrpc: '2.0', id, result: value });
  const error = (code, message) => ({ jsonrpc: '2.0', id, error: { code, message } });
  switch (method) {
    case 'initialize':
      return result({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'mcp-steward-fault-server', version: '1.0.0' },
      });
    case 'ping':
      return result({});
    case 'tools/list':
      return result({ tools: TOOLS });
    case 'tools/call': {
      const { name, arguments: { key } = {} } = params;
      if (!TOOLS.some((tool) => tool.name === name)) return error(INVALID_PARAMS, `No tool ${name}`);
      if (typeof key !== 'string') return error(INVALID_PARAMS, 'Expected { key: string }');
      note('ran', { key });
      return result({ content: [{ type: 'text', text: `${name} ${key}` }] });
    }
    default:
      return error(METHOD_NOT_FOUND, `Method not found: ${method}`);
  }
}
