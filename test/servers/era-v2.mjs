// The v2 SDK's McpServer with the tools of tools.mjs. One is made for each request.
import { completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { adjustHandlers } from './low-level.mjs';
import { definePromptsAndResources, defineTools } from './tools.mjs';

const era = {
  ResourceTemplate,
  completable,
  promptArgs: (shape) => z.object(shape),
  call: (_server, { mcpReq }) => ({
    signal: mcpReq.signal,
    async progress(progress, total) {
      const progressToken = mcpReq._meta?.progressToken;
      if (progressToken === undefined) return;
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
    },
    log: (level, data) => mcpReq.notify({ method: 'notifications/message', params: { level, data } }),
    /** At 2026-07-28 the server does not ask: it answers `input_required`, and the call comes again. */
    elicit(message, times) {
      const asked = Number(mcpReq.requestState?.() ?? 0);
      const answer = mcpReq.inputResponses?.answer;
      if (asked === times) return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
      const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
      const params = { mode: 'form', message, requestedSchema };
      return {
        resultType: 'input_required',
        inputRequests: { answer: { method: 'elicitation/create', params } },
        requestState: String(asked + 1),
      };
    },
  }),
};

/** @param {Parameters<typeof defineTools>[1]} host */
export function createServer(host) {
  const server = new McpServer(
    { name: 'steward-test-server', version: String(host.toolsVersion) },
    {
      capabilities: { logging: {}, resources: { listChanged: true, subscribe: true } },
      instructions: 'A server for tests.',
    },
  );
  defineTools(server, host, era);
  definePromptsAndResources(server, era);
  adjustHandlers(server.server, host);
  return server;
}
