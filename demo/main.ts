/**
 * The main job, on embedded servers. `npm start`, or `npm start -- --json` for one JSON object on stdout. On a terminal
 * it stays after its scenes and serves a page, until Ctrl+C; with `--json`, `--once` or without a terminal it ends.
 */
import { play } from './play.ts';
import { playByHand } from './playground.ts';
import type { Outcome } from './scene.ts';
import { callerOwned } from './scenes/caller-owned.ts';
import { httpRestart } from './scenes/http-restart.ts';
import { sideEffect } from './scenes/side-effect.ts';
import { stdioCrash } from './scenes/stdio-crash.ts';
import { Screen } from './screen.ts';

const SCENES = [httpRestart, stdioCrash, callerOwned, sideEffect];

const asJson = process.argv.includes('--json');
const stays = process.stdout.isTTY && !asJson && !process.argv.includes('--once');
const screen = new Screen(asJson ? () => {} : console.log);

// The exit handlers end the servers; also when the terminal is closed.
const onInterrupt = () => process.exit(130);
process.once('SIGINT', onInterrupt);
process.once('SIGTERM', () => process.exit(143)).once('SIGHUP', () => process.exit(129));

const outcomes: Outcome[] = [];
for (const [index, scene] of SCENES.entries()) {
  screen.scene(index + 1, scene);
  outcomes.push(await play(scene, screen));
}

screen.summary(outcomes, performance.now() / 1_000);
if (asJson) console.log(JSON.stringify({ scenes: outcomes }, null, 2));
process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1;

if (stays) {
  process.removeListener('SIGINT', onInterrupt);
  const stopped = new Promise<void>((resolve) => process.once('SIGINT', resolve));
  await playByHand((url) => screen.page(url), stopped);
}
