import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** An address where nobody listens. (`fetch` itself blocks the well-known low ports.) */
export async function refusingUrl(): Promise<URL> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return new URL(`http://127.0.0.1:${port}/mcp`);
}
