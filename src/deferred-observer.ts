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
  let told = 0;

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
    do tell(untold[told++] as InspectionEvent);
    while (told < untold.length && performance.now() < end);
    if (told < untold.length) {
      setTimeout(tellSome, 0);
    } else {
      untold = [];
      told = 0;
    }
  };
  return (event) => {
    if (untold.length === 0) setTimeout(tellSome, 0);
    untold.push(event);
    if (untold.length - told <= MAX_UNTOLD) return;
    // The latest matter most; half at a time, so that it does not have to be done at each event.
    untold = untold.slice(-MAX_UNTOLD / 2);
    told = 0;
    complainOnce('The inspect observer is too slow: it is not told everything');
  };
}
