/** Holds a connection to every server of a configuration for as long as somebody watches. */
import type { OwnedConnection } from '../handles.ts';
import { createSupervisor, type Supervisor } from '../supervisor.ts';
import { VERSION } from '../version.ts';
import type { Servers } from './config.ts';

/** So that a loss is seen although nobody calls anything. */
const HEARTBEAT_MS = 10_000;

export interface Watched {
  readonly supervisor: Supervisor;
  /** Opens the connections: apart, so that nobody who looks on misses the beginning. */
  connect(): void;
}

/** @throws {InvalidOptionsError} for a wrong option of any server. */
export function supervise(servers: Servers): Watched {
  const supervisor = createSupervisor({ clientInfo: { name: 'mcp-steward', version: VERSION } });
  const handles = [...servers].map(([name, transport]) =>
    supervisor.own(name, {
      transport,
      lazy: true,
      recovery: { recreate: 'eager' },
      liveness: { heartbeatMs: HEARTBEAT_MS },
    }),
  );
  // What becomes of them is shown; there is nobody to throw it at.
  const connect = (handle: OwnedConnection) => void handle.reconnect().catch(() => {});
  return { supervisor, connect: () => handles.forEach(connect) };
}

/** The exit code of a watch that ends. */
export function codeOf(supervisor: Supervisor): number {
  return [...supervisor.connections.values()].every(({ state }) => state === 'ready') ? 0 : 1;
}
