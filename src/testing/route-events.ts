/** How each event of a route is made to happen, for real. */
import { DURATIONS } from './embedding.ts';
import { poll } from './fault-poll.ts';
import type { RouteEvent } from './route.ts';
import type { RouteWalk } from './route-walk.ts';

/** How long a caller waits for an answer that is not to come. */
const IMPATIENT_MS = 50;

/** How long a delay is waited for that has to begin. */
const DELAY_LIMIT_MS = 15_000;

export const MAKE_IT_HAPPEN: Readonly<Record<RouteEvent, (walk: RouteWalk) => Promise<unknown> | unknown>> = {
  begin: () => {},
  async opened(walk) {
    await walk.server.when('initialize', 'answer');
    walk.call('append');
  },
  'open failed': ({ server }) => server.when('initialize', 'refuse'),
  // Over stdio the command was taken away before the dial began.
  'open failed for good': ({ server }) => server.transport === 'http' && server.when('initialize', 'forbid'),
  demand: (walk) => walk.call('append'),
  reconnect: (walk) => walk.reconnect(),
  async lost(walk) {
    if (walk.server.transport === 'stdio') return walk.server.kill();
    await walk.server.evict();
    walk.call('read');
  },
  async 'lost, and a call did not run'(walk) {
    await walk.server.evict();
    walk.call('append');
  },
  async 'lost, and a safe call may have run'(walk) {
    await walk.server.when('tools/call', 'lose-answer');
    walk.call('read');
  },
  async 'suspected, timeout'(walk) {
    await walk.server.when('ping', 'hold');
    await walk.server.when('tools/call', 'ignore');
    walk.call('append', IMPATIENT_MS);
  },
  'probe answered': ({ server }) => server.when('ping', 'answer'),
  async 'probe lost'({ server }) {
    await server.evict();
    await server.when('ping', 'answer');
  },
  'probe unanswered': async ({ clock }) => {
    const suspect = await poll(
      () => clock.runningMs.includes(DURATIONS.shortProbeMs) || undefined,
      DELAY_LIMIT_MS,
    );
    if (suspect === undefined) throw new Error('the next probe is not waited for');
  },
  'probe unanswered, and silent for long': () => {}, // its time passes
  heard: (walk) => walk.call('append'),
  replaced: (walk) => walk.replace(),
  close: (walk) => walk.close(),
  'after backoff': (walk) => pass(walk, 0, DURATIONS.maxBackoffMs),
  'after window': (walk) => pass(walk, DURATIONS.windowMs),
  'after stable': (walk) => pass(walk, DURATIONS.stableMs),
  // A tenth of it is random.
  'after coolDown': (walk) => pass(walk, DURATIONS.coolDownMs * 0.9, DURATIONS.coolDownMs),
  'after probeDistance': (walk) => pass(walk, DURATIONS.shortProbeMs),
};

/** A failed dial is not told by the handle; that its delay runs is the first that can be seen of it. */
async function pass({ clock }: RouteWalk, ms: number, maxMs = ms): Promise<void> {
  const passed = await poll(() => clock.fire(ms, maxMs) || undefined, DELAY_LIMIT_MS);
  if (passed === undefined) throw new Error('no such delay is running');
}
