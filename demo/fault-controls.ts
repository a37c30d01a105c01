/** The buttons with which a newcomer loses a connection. */
import type { PageControls } from '../src/inspect/index.ts';
import type { FaultServer } from '../src/testing/index.ts';

/** `restarted`: what the host does after a server was started again. */
export function faultControls(
  servers: ReadonlyMap<string, FaultServer>,
  restarted: (connection: string) => Promise<void>,
): PageControls {
  const server = (connection: string) => servers.get(connection) as FaultServer;
  return {
    kill: { label: 'Kill', run: (connection) => server(connection).kill() },
    restart: {
      label: 'Restart',
      async run(connection) {
        await server(connection).when('tools/call', 'answer');
        await server(connection).restart();
        await restarted(connection);
      },
    },
    // Over stdio there is no session to forget: the server says so, and the page that it failed.
    evict: { label: 'Evict', run: (connection) => server(connection).evict() },
    hang: { label: 'Hang', run: (connection) => server(connection).when('tools/call', 'ignore') },
    refuse: { label: 'Refuse', run: (connection) => server(connection).when('tools/call', 'refuse') },
  };
}
