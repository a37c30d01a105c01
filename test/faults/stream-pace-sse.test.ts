// Owned, legacy SSE: a stream that has ended is not opened again on the session that ended with it.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { expectNoCrashes } from '../support/crashes.ts';
import { callTool, own, settled, sse } from '../support/owned.ts';
import { until } from '../support/until.ts';

expectNoCrashes();

/** Says `retry` at once; `streams`: the GETs that came. */
async function start(retry: string) {
  const streams: ServerResponse[] = [];
  const server = createServer(async (req, res) => {
    if (req.method === 'GET') {
      const name = streams.push(res) - 1;
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.write(`retry: ${retry}\nevent: endpoint\ndata: /message?${name}\n\n`);
      return;
    }
    let body = '';
    for await (const chunk of req) body += chunk;
    res.writeHead(202).end();
    const { id, method } = JSON.parse(body);
    if (id === undefined || method === 'tools/call') return;
    const serverInfo = { name: 'legacy', version: '1.0.0' };
    const hello = { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo };
    const result = method === 'initialize' ? hello : {};
    streams[Number(req.url!.split('?')[1])]!.write(
      `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`,
    );
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { streams, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`) };
}

it.each(['0', '1000000000000', '20'])('`retry: %s`: one stream for each generation', async (retry) => {
  const { streams, url } = await start(retry);
  await using owned = own(sse(url), { recovery: { initialBackoffMs: 10, maxBackoffMs: 20 } });
  for (let generation = 1; generation <= 3; generation++) {
    await owned.handle.ping();
    expect(owned.handle.generation).toBe(generation);
    const call = settled(callTool(owned, 'append', { key: 'x' }, 60_000));
    await until(() => owned.handle.status.inFlight === 1);
    const lost = until(() => owned.handle.state !== 'ready');
    streams.at(-1)!.end();
    await lost;
    expect((await call).error).toMatchObject({ code: 'outcome-unknown' });
  }
  await owned.handle.ping();
  expect(streams).toHaveLength(4);
});
