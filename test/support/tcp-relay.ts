import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands before a server and can reset connections by what was sent over them: an answer in full flow, say. */
export interface TcpRelay {
  readonly port: number;
  /** Resets the open connections over which a client has sent this. Returns how many. */
  cut(sent: string): number;
  /** Nobody listens from now on, and of the open connections only those go on over which a client has sent this. */
  refuse(exceptSent: string): Promise<void>;
  /** What comes over a connection is swallowed: over those that are open, or over later ones too. */
  swallow(which: 'open' | 'all'): void;
  /** New connections are relayed again. Those that were swallowed stay so. */
  relay(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startRelay(targetPort: number): Promise<TcpRelay> {
  const open = new Map<Socket, { sent: string }>();
  let swallowsNew = false;
  const server = createServer((client) => {
    if (swallowsNew) {
      open.set(client, { sent: '' });
      client.on('error', () => {}).on('data', () => {});
      client.once('close', () => open.delete(client));
      return;
    }
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
    async refuse(exceptSent) {
      server.close();
      for (const [client, { sent }] of open) if (!sent.includes(exceptSent)) client.resetAndDestroy();
    },
    swallow(which) {
      swallowsNew = which === 'all';
      for (const client of open.keys()) {
        client.unpipe();
        client.resume();
      }
    },
    relay() {
      swallowsNew = false;
    },
    cut(sent) {
      const hit = [...open].filter(([, said]) => said.sent.includes(sent)).map(([client]) => client);
      for (const client of hit) client.resetAndDestroy();
      return hit.length;
    },
    async [Symbol.asyncDispose]() {
      const closed = server.listening ? once(server, 'close') : undefined;
      server.close();
      for (const client of open.keys()) client.destroy();
      await closed;
    },
  };
}
