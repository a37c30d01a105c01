/** How each event of a route is made to happen, for real. */
import { DURATIONS } from './embedding.ts';
import type { RouteEvent } from './route.ts';
import type { RouteWalk } from './route-walk.ts';

/** How long a caller waits for an answer that is not to come. */
const IMPATIENT_MS = 50;

export const MAKE_IT_HAPPEN: Readonly<Record<RouteEvent, (walk: RouteWalk) => Promise<unknown> | unknown>> = {
  begin: () => {},
  opened: ({ server }) => server.when('initialize', 'answer'),
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
  async 'lost, stricken if-unsent, not run'(walk) {
    await walk.server.evict();
    walk.call('append');
  },
  async 'lost, stricken safe, may have run'(walk) {
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
  'probe unanswered': () => {}, // its time passes
  replaced: (walk) => walk.replace(),
  close: (walk) => walk.close(),
  'after backoff': ({ clock }) => passed(clock.fire(0, DURATIONS.maxBackoffMs)),
  'after window': ({ clock }) => passed(clock.fire(DURATIONS.windowMs)),
  'after stable': ({ clock }) => passed(clock.fire(DURATIONS.stableMs)),
  'after coolDown': ({ clock }) => passed(clock.fire(DURATIONS.coolDownMs)),
};

function passed(passes: boolean): void {
  if (!passes) throw new Error('no such delay is running');
}
