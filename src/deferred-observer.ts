/** A host's own inspection observer, which may be slow or broken: neither may be felt by a call. */
import { type InspectionEvent, type Observer, toObserver } from 'xstate';
import type { InspectionObserver, Onlooker } from './inspection.ts';

/** How long it is told one thing after the other; then whatever else the host has to do comes first. */
const SLICE_MS = 5;
/** What it may be behind. */
const MAX_UNTOLD = 20_000;

/** Told in order, soon after each step and never in the middle of one. `complain` is called once for each complaint. */
export function deferredObserver(
  observer: InspectionObserver,
  complain: (complaint: string) => void,
): Onlooker {
  const { next } = toObserver(observer as Observer<InspectionEvent>);
  const complaints = new Set<string>();
  const complainOnce = (complaint: string) => {
    if (!complaints.has(complaint)) complain(complaint);
    complaints.add(complaint);
  };
  const failed = () => complainOnce('The inspect observer threw');
  let untold: InspectionEvent[] = [];
  let isScheduled = false;

  const tell = (event: InspectionEvent) => {
    try {
      const result: unknown = next?.(event);
      if (result instanceof Promise) result.catch(failed);
    } catch {
      failed();
    }
  };
  const tellSome = () => {
    const end = performance.now() + SLICE_MS;
    const events = untold;
    // What is told may itself bring about more.
    untold = [];
    let told = 0;
    do tell(events[told++] as InspectionEvent);
    while (told < events.length && performance.now() < end);
    untold = [...events.slice(told), ...untold];
    isScheduled = untold.length > 0;
    if (isScheduled) setTimeout(tellSome, 0);
  };
  return (event) => {
    untold.push(event);
    if (!isScheduled) setTimeout(tellSome, 0);
    isScheduled = true;
    if (untold.length <= MAX_UNTOLD) return;
    untold = withoutOldest(untold);
    complainOnce('The inspect observer is too slow: it is not told everything');
  };
}

/** The latest matter most, and that a machine has ended: an observer would keep it for ever. */
function withoutOldest(events: readonly InspectionEvent[]): InspectionEvent[] {
  const half = MAX_UNTOLD / 2;
  const ends = events
    .slice(0, -half)
    .filter((event) => event.type === '@xstate.snapshot' && event.snapshot.status !== 'active');
  return [...ends.slice(-half / 2), ...events.slice(-half)];
}
