/** Who may look: only who has the token, from this machine, and no other page in the same browser. */
import { once } from 'node:events';
import { request } from 'node:http';
import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type StatelyInspector, statelyInspector } from '../../src/inspect/index.ts';
import { LocalServer } from '../../src/inspect/local-server.ts';
import { expectNoCrashes } from '../support/crashes.ts';
import { letGo } from '../support/let-go.ts';

expectNoCrashes();

let inspector: StatelyInspector;
let url: URL;

beforeAll(async () => {
  inspector = statelyInspector();
  url = await inspector.url;
});
afterAll(() => inspector.close());

function statusOf(path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: url.port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

function upgradeStatus(address: string, origin?: string): Promise<number | 'open'> {
  return new Promise((resolve) => {
    const socket = new WebSocket(address, origin === undefined ? {} : { origin });
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => {});
    socket.on('open', () => {
      resolve('open');
      socket.close();
    });
  });
}

describe('a request', () => {
  const path = () => `${url.pathname}${url.search}`;

  it('with the token is let in', async () => {
    expect(await statusOf(path())).toBe(200);
    expect(await statusOf(path(), { host: `localhost:${url.port}` })).toBe(200);
    expect(await statusOf(path(), { origin: url.origin })).toBe(200);
  });

  it('without it, or with another, is not', async () => {
    expect(await statusOf('/')).toBe(401);
    expect(await statusOf('/?token=')).toBe(401);
    expect(await statusOf(`${path()}x`)).toBe(401);
  });

  it('for another host, which resolves to this machine, is not', async () => {
    expect(await statusOf(path(), { host: `evil.example:${url.port}` })).toBe(421);
    expect(await statusOf(path(), { host: '127.0.0.1' })).toBe(421);
  });

  it('from a page of another origin is not', async () => {
    expect(await statusOf(path(), { origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf(path(), { origin: 'null' })).toBe(403);
  });
});

describe('a WebSocket', () => {
  it('is treated in the same way', async () => {
    const address = url.href.replace('http', 'ws');
    expect(await upgradeStatus(address)).toBe('open');
    expect(await upgradeStatus(address, 'https://evil.example')).toBe(403);
    expect(await upgradeStatus(`ws://127.0.0.1:${url.port}/`)).toBe(401);
  });

  it.each(['', '?token=wrong'])(
    'that is asked for with "%s" and reset at once harms nobody',
    async (query) => {
      const socket = createConnection(Number(url.port), '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      const head = `GET /${query} HTTP/1.1\r\nHost: ${url.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
      socket.write(head, () => socket.resetAndDestroy());
      await once(socket, 'close');
      // The server has read all of that before it answers this.
      expect(await statusOf('/')).toBe(401);
    },
  );
});

it.runIf(process.getuid?.() === 0)('on the usual port is asked for without it', async ({ skip }) => {
  await using server = new LocalServer((_request, response) => void response.end());
  const isFree = await server.listen(80).then(
    () => true,
    () => false,
  );
  skip(!isFree, 'port 80 is taken');
  expect((await fetch(server.url)).status).toBe(200);
});

it('a refused upgrade leaves no socket, whatever its peer goes on to send', async () => {
  const socket = createConnection({ port: Number(url.port), host: '127.0.0.1', allowHalfOpen: true });
  socket.write(
    `GET / HTTP/1.1\r\nHost: ${url.host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nmore`,
  );
  socket.resume();
  await letGo(socket);
});

it('a handler that fails harms its own request alone', async () => {
  await using server = await new LocalServer(async (_request, response, { pathname }) => {
    if (pathname !== '/') throw new Error('no such file any more');
    response.end();
  }).listen(0);
  const broken = new URL(server.url);
  broken.pathname = '/broken';
  await expect(fetch(broken)).rejects.toThrow();
  expect((await fetch(server.url)).status).toBe(200);
});

it('no other interface of this machine has the port', async () => {
  const others = Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).filter(({ internal, family }) => !internal && family === 'IPv4'),
  );
  for (const { address } of others) {
    const reached = await new Promise<boolean>((resolve) => {
      const socket = createConnection(Number(url.port), address);
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    expect(reached, address).toBe(false);
  }
});
