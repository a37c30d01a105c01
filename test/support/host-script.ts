/** A host in a process of its own: one connection, orders over IPC. Run by `sleeping-host.ts`. */
import { type ConnectionHandle, createSupervisor, type OwnOptions } from '../../src/index.ts';
import { connectV1, connectV2 } from './raw-client.ts';

export interface HostOptions {
  /** Of an owned connection. */
  readonly own?: OwnOptions;
  /** The URL that the caller's own client is connected to, of this version of the SDK. */
  readonly adopt?: { readonly url: string; readonly sdk: 'v1' | 'v2' };
  readonly liveness: OwnOptions['liveness'];
}

const { own, adopt, liveness }: HostOptions = JSON.parse(process.argv[2] ?? '{}');
const supervisor = createSupervisor({ clientInfo: { name: 'sleeper', version: '1.0.0' } });

async function connection(): Promise<ConnectionHandle> {
  if (adopt === undefined) return supervisor.own('files', { ...own, liveness } as OwnOptions);
  const url = new URL(adopt.url);
  const { client } = adopt.sdk === 'v1' ? await connectV1(url) : await connectV2(url);
  return supervisor.adopt('files', client as never, { liveness });
}

const handle = await connection();
const states: string[] = [];
handle.on('transition', ({ to }) => states.push(to));

const ORDERS: Record<string, (...args: never[]) => unknown> = {
  call: (name: string, args: Record<string, unknown>, timeout: number) =>
    handle.callTool({ name, arguments: args }, undefined, { timeout }),
  status: () => ({ ...handle.status, states }),
};

process.on('message', async ({ order, name, args }: { order: number; name: string; args: never[] }) => {
  try {
    process.send?.({ order, result: (await ORDERS[name]?.(...args)) ?? null });
  } catch (error) {
    process.send?.({ order, error: String(error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send?.({ up: true });
