/**
 * What a viewer that comes late is told first: the latest events, and of each actor that is still there how it was
 * before them. It is bounded, however long the host runs.
 */
import type { StatelyInspectionEvent } from '@statelyai/inspect';

const MAX_EVENTS = 1_000;

/** What has been dropped of one actor, in the two events that make the rest understandable. */
interface Before {
  actor: StatelyInspectionEvent;
  snapshot: StatelyInspectionEvent | undefined;
}

export class StatelyHistory {
  readonly #latest: StatelyInspectionEvent[] = [];
  readonly #before = new Map<string, Before>();

  add(event: StatelyInspectionEvent): void {
    this.#latest.push(event);
    if (this.#latest.length > MAX_EVENTS) this.#drop(this.#latest.shift() as StatelyInspectionEvent);
  }

  *events(): Generator<StatelyInspectionEvent> {
    for (const { actor, snapshot } of this.#before.values()) {
      yield actor;
      if (snapshot !== undefined) yield snapshot;
    }
    yield* this.#latest;
  }

  #drop(event: StatelyInspectionEvent): void {
    const before = this.#before.get(event.sessionId);
    if (event.type === '@xstate.actor') {
      this.#before.set(event.sessionId, { actor: event, snapshot: undefined });
    } else if (event.type === '@xstate.snapshot' && before !== undefined) {
      before.snapshot = event;
      // One that has ended says nothing more.
      if (event.snapshot.status !== 'active') this.#before.delete(event.sessionId);
    }
  }
}
