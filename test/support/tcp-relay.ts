import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands before a server and can reset connections by what was sent over them: an answer in full flow, say. */
export interface TcpRelay {
  readonly port: number;
  /** Resets the open connections over which a client has sent this. Returns how many. */
  cut(sent: string): number;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRelay(targetPort: number): Promise<TcpRelay> {
  const open = new Map<Socket, { sent: string }>();
  const server = createServer((client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    const said = { sent: '' };
    open.set(client, said);
    client.on('data', (chunk) => {
      said.sent += chunk.toString('latin1');
    });
    client.on('error', () => {});
    upstream.on('error', () => {});
    client.once('close', () => {
      open.delete(client);
      upstream.destroy();
    });
    upstream.once('close', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut(sent) {
      const hit = [...open].filter(([, said]) => said.sent.includes(sent)).map(([client]) => client);
      for (const client of hit) client.resetAndDestroy();
      return hit.length;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const client of open.keys()) client.destroy();
      await closed;
    },
  };
}
