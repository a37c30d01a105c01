// The v1 SDK's McpServer with the tools of tools.mjs.
import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  ElicitResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { adjustHandlers } from './low-level.mjs';
import { definePromptsAndResources, defineTools } from './tools.mjs';

const era = {
  ResourceTemplate,
  completable,
  promptArgs: (shape) => shape,
  call: (_server, extra) => ({
    signal: extra.signal,
    async progress(progress, total) {
      const progressToken = extra._meta?.progressToken;
      if (progressToken === undefined) return;
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total },
      });
    },
    log: (level, data) =>
      extra.sendNotification({ method: 'notifications/message', params: { level, data } }),
    async elicit(message) {
      const answer = await extra.sendRequest(
        {
          method: 'elicitation/create',
          params: { message, requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
        },
        ElicitResultSchema,
      );
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    },
  }),
};

/** @param {Parameters<typeof defineTools>[1]} host */
export function createServer(host) {
  const server = new McpServer(
    { name: 'steward-test-server', version: String(host.toolsVersion) },
    {
      capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
      instructions: 'A server for tests.',
    },
  );
  defineTools(server, host, era);
  definePromptsAndResources(server, era);
  const subscribed = new Set();
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri);
    return {};
  });
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri);
    return {};
  });
  adjustHandlers(server.server, host);
  return { server, subscribed };
}
