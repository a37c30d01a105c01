// Since when the page has a connection as suspect. The steps are fed by hand: the model alone is under test.
import { expect, it } from 'vitest';
import { createSupervisor } from '../../src/index.ts';
import { Connections } from '../../src/inspect/page/connections.ts';
import type { Step } from '../../src/inspect/steps.ts';

interface Taken {
  readonly to: string;
  readonly suspicion?: string;
  readonly misses?: number;
  readonly actor?: string;
}

function step(at: number, { to, suspicion, misses = 0, actor = 'x:1' }: Taken): Step {
  return {
    at,
    since: undefined,
    connection: 'files',
    machine: 'connection',
    actor,
    event: 'suspected',
    detail: {},
    from: '',
    path: [to],
    to,
    context: {
      ownership: 'supervisor',
      generation: 1,
      misses,
      ...(suspicion !== undefined && { suspicion }),
    },
    ignored: false,
    ended: to === 'closed',
  };
}

/** What the page is told after each step; the first comes at 1, the second at 2 … */
function suspectSinceAfter(steps: readonly Taken[]): (number | undefined)[] {
  const connections = new Connections(createSupervisor({ clientInfo: { name: 'host', version: '1.0.0' } }));
  return steps.map((taken, index) => {
    connections.take(step(index + 1, taken));
    return connections.view('files')?.suspectSince;
  });
}

const STEADY = { to: 'ready.steady', suspicion: 'timeout' };
const PROBING = { to: 'ready.probing', suspicion: 'timeout' };
const SUSPECT = { to: 'ready.suspect', suspicion: 'timeout' };
const HEARTBEAT = { to: 'ready.probing', suspicion: 'heartbeat' };

it.each<[string, Taken, boolean]>([
  ['steady, whatever was suspected before', STEADY, false],
  ['steady, with missed heartbeats', { ...STEADY, misses: 2 }, false],
  ['a probe after a suspicion', PROBING, true],
  ['a routine heartbeat', HEARTBEAT, false],
  ['a heartbeat after a missed one', { ...HEARTBEAT, misses: 1 }, true],
  ['between two probes', SUSPECT, true],
  ['between two probes that began with a heartbeat', { ...SUSPECT, suspicion: 'heartbeat', misses: 1 }, true],
  ['lost', { to: 'lost', suspicion: 'timeout', misses: 3 }, false],
  ['recreating', { to: 'recreating.opening', suspicion: 'timeout' }, false],
  ['closed', { to: 'closed', suspicion: 'timeout' }, false],
])('%s', (_, taken, isSuspect) => {
  expect(suspectSinceAfter([taken])).toEqual([isSuspect ? 1 : undefined]);
});

it('further probes do not begin it anew', () => {
  const probes = [PROBING, SUSPECT, PROBING, SUSPECT, PROBING];
  expect(suspectSinceAfter([STEADY, ...probes])).toEqual([undefined, 2, 2, 2, 2, 2]);
});

it('a suspicion during a routine heartbeat begins with the heartbeat that was missed', () => {
  const missed = { to: 'ready.suspect', suspicion: 'heartbeat', misses: 1 };
  expect(suspectSinceAfter([HEARTBEAT, missed, { ...HEARTBEAT, misses: 1 }])).toEqual([undefined, 2, 2]);
});

it('ends with an answer, and a later suspicion has its own beginning', () => {
  expect(suspectSinceAfter([PROBING, STEADY, PROBING])).toEqual([1, undefined, 3]);
});

it('ends with a loss; the next generation begins without it', () => {
  const recovery = [{ to: 'lost' }, { to: 'recreating.opening' }, { to: 'ready.steady' }];
  expect(suspectSinceAfter([PROBING, ...recovery, PROBING])).toEqual([1, undefined, undefined, undefined, 5]);
});

it('is not inherited by another connection of the same name', () => {
  expect(suspectSinceAfter([PROBING, { ...PROBING, actor: 'x:2' }])).toEqual([1, 2]);
});
