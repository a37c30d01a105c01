/** After the scenes: three connections to lose by hand, and a page to watch them come back on. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type CallerOwnedConnection, type ConnectionHandle, createSupervisor } from '../src/index.ts';
import { servePage } from '../src/inspect/index.ts';
import { FaultServer } from '../src/testing/index.ts';
import { faultControls } from './fault-controls.ts';
import { CLIENT_INFO } from './scene.ts';

/** So that a loss is noticed while somebody watches. */
const CALL_EVERY_MS = 1_500;
const OPTIONS = {
  replay: { tools: { read: 'safe' } },
  timeouts: { requestTimeoutMs: 6_000, drainTimeoutMs: 2_000 },
  recovery: { stableMs: 5_000, coolDownMs: 5_000, maxBackoffMs: 2_000 },
} as const;

/** `started` is given the page's address. Resolves when `stopped` has, with nothing left behind. */
export async function playByHand(started: (url: string) => void, stopped: Promise<void>): Promise<void> {
  await using http = await FaultServer.start({ transport: 'http' });
  await using stdio = await FaultServer.start({ transport: 'stdio' });
  await using lent = await FaultServer.start({ transport: 'http' });
  await using supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  const files = supervisor.own('files', { ...OPTIONS, transport: http.target });
  const search = supervisor.own('search', { ...OPTIONS, transport: stdio.target });
  const mine = supervisor.adopt('mine', await clientOf(lent), { timeouts: { requestTimeoutMs: 6_000 } });

  const servers = new Map([
    ['files', http],
    ['search', stdio],
    ['mine', lent],
  ]);
  const controls = faultControls(servers, async (connection) => {
    // Only its caller can bring it back, and here the caller is this demo.
    if (connection === mine.name) await replace(mine, lent);
  });
  await using page = await servePage(supervisor, { controls });
  const timer = setInterval(() => [files, search, mine].forEach(use), CALL_EVERY_MS);
  started(page.url);
  await stopped;
  clearInterval(timer);
}

async function clientOf({ target }: FaultServer): Promise<Client> {
  const client = new Client(CLIENT_INFO);
  const { url } = target as { url: string };
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport);
  return client;
}

async function replace(mine: CallerOwnedConnection<unknown>, server: FaultServer): Promise<void> {
  await mine.replace(await clientOf(server));
}

/** The page shows how it ended. */
function use(handle: ConnectionHandle): void {
  handle.callTool({ name: 'read', arguments: { key: 'demo' } }).catch(() => {});
}
