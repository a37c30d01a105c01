// The MCP server of the soak at revision 2026-07-28: without sessions. What it asks the host, it asks by an answer, and
// the call comes again.
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, fromJsonSchema, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';

const sleep = (ms) => (ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);

const QUESTION = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Go on?',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
  },
};
/** Everything that servers of 2025 would ask their host. */
const ASKS = ['ping', 'roots', 'sample', 'elicit'];

/** @param {{ write(event: string, facts?: object): void }} journal */
export function modernHandler(journal) {
  const node = toNodeHandler(createMcpHandler(() => createServer(journal)));
  return (req, res, body) => {
    const connection = req.headers['x-connection'];
    if (body?.method === 'server/discover') journal.write('initialize', { connection });
    // A list is asked for by page, and the page is the call's id.
    if (body?.method === 'tools/list' && body.params?.cursor !== undefined) {
      journal.write('run', { id: body.params.cursor, method: 'list' });
      delete body.params.cursor;
    }
    return node(req, res, body);
  };
}

function createServer(journal) {
  const server = new McpServer(
    { name: 'soak', version: '1.0.0' },
    { capabilities: { tools: {}, resources: {} } },
  );
  const ran = (id, method) => journal.write('run', { id, method });
  for (const name of ['append', 'search']) {
    const inputSchema = fromJsonSchema({ type: 'object' });
    server.registerTool(name, { inputSchema }, async ({ id, beforeMs, afterMs, says }, { mcpReq }) => {
      journal.write('begin', { id });
      if (ASKS.includes(says) && mcpReq.inputResponses?.answer === undefined) {
        journal.write('asked', { id });
        return { resultType: 'input_required', inputRequests: { answer: QUESTION } };
      }
      await sleep(beforeMs);
      ran(id, name);
      await sleep(afterMs);
      return { content: [{ type: 'text', text: id }] };
    });
  }
  server.registerResource(
    'text',
    new ResourceTemplate('text://soak/{id}', { list: undefined }),
    {},
    (uri) => {
      const id = uri.href.slice(uri.href.lastIndexOf('/') + 1);
      ran(id, 'read');
      return { contents: [{ uri: uri.href, text: id }] };
    },
  );
  return server;
}
