import { everything } from '../everything.ts';
import { type Scene, textOf } from '../scene.ts';
import { ServerProcess } from '../server-process.ts';

/** server-everything answers an unknown session with 400: one probe confirms that it is gone. */
export const httpRestart: Scene = {
  name: 'http-restart',
  title: 'Streamable HTTP: server-everything is killed and started again',
  async play({ supervisor, ledger, watch, say, claim }) {
    await using server = await new ServerProcess(everything('streamableHttp'), ledger).start();
    const handle = supervisor.own('everything', { transport: { kind: 'http', url: server.url } });
    watch(handle);

    const call = (a: number, b: number) => handle.callTool({ name: 'get-sum', arguments: { a, b } });
    claim('get-sum 1 + 2 is answered', textOf(await call(1, 2)).includes('3'));

    const { pid } = server;
    await server.kill();
    await server.start();
    say(`server killed (pid ${pid}), and started again (pid ${server.pid}): it knows no session`);

    claim('get-sum 3 + 4 is answered', textOf(await call(3, 4)).includes('7'));
    claim('on generation 2', handle.generation === 2);
    claim('2 initializes, 2 executions', ledger.initializes === 2 && ledger.executions === 2);
    return handle.generation;
  },
};
