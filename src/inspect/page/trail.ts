/** The way that a machine took last, from where it set out. */
import type { Step } from '../steps.ts';
import type { Trail } from './wire.ts';

/** Where a connection rests; whatever it does next is a new way. */
const RESTS: readonly string[] = ['idle', 'ready.steady', 'failed-ownership'];

const INITIAL = { connection: 'idle', operation: 'judging' } as const;

/** A connection that is dialled again and again shows its last steps. */
const LONGEST = 16;

export function trailAfter(trail: Trail, step: Step): Trail {
  if (step.event === 'appeared') return [{ state: step.to, event: '' }];
  const begun = startOf(trail, step);
  // The first is what the event did; what follows, and all that a new machine does, it did by itself.
  const taken = step.path.map((state, index) => ({
    state,
    event: index === 0 && step.event !== 'created' ? step.event : 'always',
  }));
  return [...begun, ...taken].slice(-LONGEST);
}

function startOf(trail: Trail, { event, from, path, machine }: Step): Trail {
  if (event === 'created') return [{ state: INITIAL[machine], event: '' }];
  if (path.length > 0 && RESTS.includes(from)) return [{ state: from, event: '' }];
  return trail;
}
