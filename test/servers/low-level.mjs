// Two things that McpServer does not do by itself. Both SDKs keep their handlers in a Map.

/** @param {object} server a low-level Server @param {object} host as in tools.mjs */
export function adjustHandlers(server, host) {
  const handlers = server._requestHandlers;
  const call = handlers.get('tools/call');
  handlers.set('tools/call', async (request, extra) => {
    if (request.params.name !== 'rpcError') return call(request, extra);
    const { code, message, key } = request.params.arguments;
    host.ledger.write('run', { tool: 'rpcError', key, session: host.session });
    throw Object.assign(new Error(message), { code });
  });

  const pages = host.options.pages;
  if (!pages) return;
  const list = handlers.get('tools/list');
  handlers.set('tools/list', async (request, extra) => {
    const { tools, ...rest } = await list(request, extra);
    const page = Number(request.params?.cursor ?? 0);
    const size = Math.ceil(tools.length / pages);
    const nextCursor = page + 1 < pages ? { nextCursor: String(page + 1) } : {};
    return { ...rest, tools: tools.slice(page * size, (page + 1) * size), ...nextCursor };
  });
}
