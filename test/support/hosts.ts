import {
  type Connect,
  type ConnectContext,
  createSupervisor,
  type OwnedConnection,
} from '../../src/index.ts';
import { sdk2 } from '../../src/sdk-2.ts';
import type { OwnedSettings } from './owned.ts';
import { connectV1, connectV2 } from './raw-client.ts';

export interface Host {
  readonly handle: OwnedConnection;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The ways in which a supervisor owns a Streamable HTTP connection whose wire it sees. */
export const SEEN_HOSTS = [
  'the transport is ours, v1',
  'the transport is ours, v2',
  'the client is theirs, v1',
  'the client is theirs, v2',
] as const;

export type SeenHost = (typeof SEEN_HOSTS)[number];

/** Where the two that have SDK v2 differ in nothing, one of them is enough. */
export const ONE_HOST_OF_EACH: readonly SeenHost[] = SEEN_HOSTS.filter(
  (host) => host !== 'the transport is ours, v2',
);

/** Servers that are written by hand do not know what comes before `initialize`. */
const BY_VERSION_2 = { sdk: sdk2, versionNegotiation: { mode: 'legacy' } } as const;

/** A connection to this server, in a supervisor of its own. */
export function hostOf(kind: SeenHost, url: URL, settings: OwnedSettings = {}): Host {
  const supervisor = createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } });
  const { recovery, timeouts, liveness, replay } = settings;
  const connect = async ({ fetch }: ConnectContext) => {
    const options = { fetch: fetch as never };
    const raw =
      kind === 'the client is theirs, v1'
        ? await connectV1(url, options)
        : await connectV2(url, 'legacy', options);
    return raw.client;
  };
  const handle = supervisor.own('files', {
    ...(kind.startsWith('the transport is ours')
      ? { transport: { kind: 'http', url, ...(kind.endsWith('v2') && BY_VERSION_2) } }
      : { connect: connect as unknown as Connect }),
    recovery: { initialBackoffMs: 10, maxBackoffMs: 50, coolDownMs: 50, ...recovery },
    timeouts: { connectTimeoutMs: 5_000, drainTimeoutMs: 5_000, closeTimeoutMs: 1_000, ...timeouts },
    liveness: { probeTimeoutMs: 1_000, ...liveness },
    ...(replay && { replay }),
  });
  return { handle, [Symbol.asyncDispose]: () => supervisor.close() };
}
