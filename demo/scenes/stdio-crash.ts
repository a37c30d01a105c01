import { everything } from '../everything.ts';
import { type Scene, textOf } from '../scene.ts';
import { until } from '../until.ts';

/** The supervisor starts the server itself, and again when an operation needs it. */
export const stdioCrash: Scene = {
  name: 'stdio-crash',
  title: 'stdio: server-everything is killed',
  async play({ supervisor, ledger, watch, say, claim }) {
    const handle = supervisor.own('everything', {
      transport: {
        kind: 'stdio',
        command: process.execPath,
        args: everything('stdio'),
        env: { DEMO_LEDGER: ledger.path },
      },
    });
    watch(handle);

    const call = (message: string) => handle.callTool({ name: 'echo', arguments: { message } });
    claim('echo is answered', textOf(await call('one')).includes('one'));

    const pid = ledger.pid as number;
    process.kill(pid, 'SIGKILL');
    say(`server killed (pid ${pid})`);
    await until(() => handle.state === 'lost', 'the loss');

    claim('echo is answered', textOf(await call('two')).includes('two'));
    claim(
      `on generation 2, by a new process (pid ${ledger.pid})`,
      handle.generation === 2 && ledger.pid !== pid,
    );
    claim('2 initializes, 2 executions', ledger.initializes === 2 && ledger.executions === 2);
    return handle.generation;
  },
};
