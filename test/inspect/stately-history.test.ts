import type { StatelyInspectionEvent } from '@statelyai/inspect';
import { expect, it } from 'vitest';
import { StatelyHistory } from '../../src/inspect/stately-history.ts';

const actor = (sessionId: string) => ({ type: '@xstate.actor', sessionId }) as StatelyInspectionEvent;

function snapshot(sessionId: string, value: string, status = 'active'): StatelyInspectionEvent {
  return { type: '@xstate.snapshot', sessionId, snapshot: { status, value } } as never;
}

it('is bounded, and knows of every actor that still runs how it was before what is left', () => {
  const history = new StatelyHistory();
  history.add(actor('old'));
  history.add(snapshot('old', 'before'));
  history.add(actor('ended'));
  history.add(snapshot('ended', 'last', 'done'));
  history.add(actor('busy'));
  for (let n = 0; n < 10_000; n++) history.add(snapshot('busy', String(n)));

  const events = [...history.events()];
  expect(events.length).toBeLessThan(1_100);
  expect(events.filter(({ sessionId }) => sessionId === 'old')).toEqual([
    actor('old'),
    snapshot('old', 'before'),
  ]);
  expect(events.some(({ sessionId }) => sessionId === 'ended')).toBe(false);
  const busy = events.filter(({ sessionId }) => sessionId === 'busy');
  expect(busy[0]).toEqual(actor('busy'));
  expect(busy.at(-1)).toEqual(snapshot('busy', '9999'));
});
