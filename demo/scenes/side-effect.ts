import { fileURLToPath } from 'node:url';
import { OutcomeUnknownError } from '../../src/index.ts';
import { errorOf, type Scene } from '../scene.ts';
import { ServerProcess } from '../server-process.ts';
import { until } from '../until.ts';

const SHOP = fileURLToPath(new URL('../servers/shop.mjs', import.meta.url));

/** The connection may be recreated; the order may not be placed again. */
export const sideEffect: Scene = {
  name: 'side-effect',
  title: 'A server is killed under a call with a side effect',
  async play({ supervisor, ledger, watch, say, claim }) {
    await using server = await new ServerProcess([SHOP], ledger).start();
    const handle = supervisor.own('shop', { transport: { kind: 'http', url: server.url } });
    watch(handle);

    say('place-order is called');
    const failure = errorOf(handle.callTool({ name: 'place-order', arguments: { item: 'tea' } }));
    await until(() => ledger.executions === 1, 'the order');
    const killedAt = performance.now();
    await server.kill();
    say('the order is placed; the server is killed before it can say so');

    const error = await failure;
    const ms = Math.round(performance.now() - killedAt);
    say(`${error.name}: ${error.message}`);
    claim(
      `the caller is told, ${ms} ms after the kill, that the outcome is unknown`,
      error instanceof OutcomeUnknownError,
    );

    await server.start();
    say('server started again');
    const { tools } = await handle.listTools();
    claim('the connection works again, on generation 2', handle.generation === 2 && tools.length === 1);
    claim('the order was placed once', ledger.executions === 1);
    return handle.generation;
  },
};
