/**
 * Interleavings cannot be chosen with real sockets and processes, so the server and its transports are fakes here. The
 * SDK's clients, the supervisor and all in between are real. What holds is judged by what the server and the callers saw.
 *
 * The interleavings of calls, losses, recreation, abort, close, replace, the passing of time and late callbacks, made up
 * by fast-check. A failure prints the script, the order in which things happened, and the command that replays it.
 * `RACES_RUNS=20000` runs longer than the suite does.
 */
import fc from 'fast-check';
import { beforeAll, it } from 'vitest';
import { abortError } from '../../src/abort-error.ts';
import { sessionAsClient } from '../../src/transports/session-client.ts';
import { holds, OPTIONS } from './holds.ts';
import { LentRace } from './lent-race.ts';
import { OwnedRace } from './owned-race.ts';
import { forgetfulScript, lentScript, ownedScript } from './script.ts';
import { World } from './world.ts';

// The first call of a session, and the first abort, load parts of the SDK, which takes more than microtasks.
beforeAll(async () => {
  await sessionAsClient({ request: async () => ({}) }).ping();
  await abortError(undefined, undefined, false);
});

it('races over an owned connection', OPTIONS, async ({ task }) => {
  await holds(
    task.name,
    600,
    fc.asyncProperty(ownedScript, fc.scheduler(), async (script, scheduler) => {
      using world = new World(scheduler, script.pace, script.jitter);
      await new OwnedRace(script, world).run();
    }),
  );
});

it('races over a caller-owned connection', OPTIONS, async ({ task }) => {
  await holds(
    task.name,
    400,
    fc.asyncProperty(lentScript, fc.scheduler(), async (script, scheduler) => {
      using world = new World(scheduler, script.pace, 0);
      await new LentRace(script, world).run();
    }),
  );
});

/** Each call runs once, unless it was turned away as often as it may be sent. */
it('a server that only forgets', OPTIONS, async ({ task }) => {
  await holds(
    task.name,
    200,
    fc.asyncProperty(forgetfulScript, fc.scheduler(), async (script, scheduler) => {
      using world = new World(scheduler, script.pace, script.jitter);
      const race = new OwnedRace(script, world);
      await race.run();
      for (const { key, policy, runs, turnedAway, outcomes } of race.calls.all) {
        const isAnswered = outcomes.some((outcome) => 'result' in outcome) && runs === 1;
        const isGivenUp = turnedAway === (policy === 'never' ? 1 : 2) && runs === 0;
        if (isAnswered || isGivenUp) continue;
        throw new Error(`${key} (${policy}) was turned away ${turnedAway} times and ran ${runs} times`);
      }
    }),
  );
});
