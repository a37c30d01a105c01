// WebSocket: the v1 SDK has a client for it and no server, so the transport is written here. No faults.
import { randomUUID } from 'node:crypto';
import { WebSocketServer } from 'ws';
import { createServer } from './era-v1.mjs';
import { noteDelivered } from './ledger.mjs';

/** @param {object} host see http-server.mjs @param {import('node:http').Server} http */
export function webSocket(host, http) {
  const { ledger } = host;
  const sessions = new Map();

  function evict(id) {
    for (const session of id === undefined ? [...sessions.values()] : [sessions.get(id)])
      session?.socket.close();
  }

  async function open(socket) {
    const id = randomUUID();
    const transport = {
      async start() {},
      async send(message) {
        socket.send(JSON.stringify(message));
      },
      async close() {
        socket.close();
      },
    };
    const { server, subscribed } = createServer({
      ...host,
      session: id,
      toolsVersion: host.toolsVersion,
      evict,
    });
    sessions.set(id, { id, socket, server, subscribed });
    socket.on('close', () => {
      sessions.delete(id);
      transport.onclose?.();
    });
    await server.connect(transport);
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString());
      ledger.write('request', { method: message.method ?? null, id: message.id, session: id, known: true });
      noteDelivered(ledger, message, id);
      transport.onmessage(message);
    });
  }

  new WebSocketServer({ server: http, handleProtocols: () => 'mcp' }).on('connection', open);
  return {
    sessions,
    evict,
    sessionOf: () => null,
    knows: () => true,
    serve: (_req, res) => res.writeHead(426).end(),
  };
}
