import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallerOwnedConnectionLostError } from '../../src/index.ts';
import { everything } from '../everything.ts';
import { CLIENT_INFO, errorOf, type Scene, textOf } from '../scene.ts';
import { ServerProcess } from '../server-process.ts';

async function connectClient(url: URL): Promise<Client> {
  const client = new Client(CLIENT_INFO);
  await client.connect(new StreamableHTTPClientTransport(url) as Transport);
  return client;
}

/** What the caller supplied is never recreated: the error says what the caller has to do, and the caller does it. */
export const callerOwned: Scene = {
  name: 'caller-owned',
  title: 'Caller-owned: the client that was supplied is lost',
  async play({ supervisor, ledger, watch, say, claim }) {
    await using server = await new ServerProcess(everything('streamableHttp'), ledger).start();
    const client = await connectClient(server.url);
    const handle = supervisor.adopt('mine', client);
    watch(handle);

    const call = () => handle.callTool({ name: 'echo', arguments: { message: 'hello' } });
    claim('echo is answered', textOf(await call()).includes('hello'));

    await server.kill();
    await server.start();
    say('server killed, and started again');

    const error = await errorOf(call());
    say(`${error.name}: ${error.message}`);
    claim('every operation fails with the ownership error', error instanceof CallerOwnedConnectionLostError);
    claim('nobody but the caller has initialised', ledger.initializes === 1);

    say('the caller connects a new client, and passes it to replace()');
    const next = await connectClient(server.url);
    await handle.replace(next);
    claim('echo is answered', textOf(await call()).includes('hello'));
    claim(
      '2 initializes, both by the caller; 2 executions',
      ledger.initializes === 2 && ledger.executions === 2,
    );

    await handle.close();
    await Promise.all([client.close(), next.close()]);
    return handle.generation;
  },
};
