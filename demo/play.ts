/** Plays one scene, with a supervisor and a ledger of its own, and leaves nothing behind. */
import { createSupervisor } from '../src/index.ts';
import { Ledger } from './ledger.ts';
import { CLIENT_INFO, type Outcome, type Scene } from './scene.ts';
import type { Screen } from './screen.ts';

export async function play(scene: Scene, screen: Screen): Promise<Outcome> {
  using ledger = new Ledger();
  const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  let generations = 0;
  let error: string | undefined;
  try {
    await scene.play({
      supervisor,
      ledger,
      say: (text) => screen.line(text),
      watch: (handle) => {
        screen.state(handle.name, undefined, handle.state, handle.generation);
        handle.on('transition', ({ connection, from, to, generation, cause }) => {
          generations = Math.max(generations, generation);
          screen.state(connection, from, to, generation, cause);
        });
      },
      claim: (text, holds) => {
        screen.claim(text, holds);
        if (!holds) throw new Error(`does not hold: ${text}`);
      },
    });
  } catch (reason) {
    error = reason instanceof Error ? reason.message : String(reason);
    screen.line(error);
  } finally {
    await supervisor.close();
  }
  const { initializes, executions } = ledger;
  const outcome = { scene: scene.name, ok: error === undefined, generations, initializes, executions };
  return error === undefined ? outcome : { ...outcome, error };
}
