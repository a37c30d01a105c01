/** Those who look on at the machines of one supervisor. While there is nobody, it costs nothing. */
import type { AnyActorRef, InspectionEvent, Observer } from 'xstate';
import { quietly } from './quietly.ts';

/**
 * Told of each step of each machine as it happens, so it must be quick. One that throws harms nobody. `since` is told
 * with the first sight of a machine that was there before: when it began, in milliseconds since the epoch.
 */
export type Onlooker = (event: InspectionEvent, connection: string, since?: number) => void;

/** What XState takes: `createInspector().inspect` of `@statelyai/inspect`, or a function. */
export type InspectionObserver = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

export class Inspection {
  readonly #onlookers = new Set<Onlooker>();
  /** The actors that run, and whether they already tell what they do. */
  readonly #running = new Map<AnyActorRef, { connection: string; since: number; tells: boolean }>();

  /** For `createActor`. */
  actorOptions(connection: string): { inspect?: (event: InspectionEvent) => void } {
    if (this.#onlookers.size === 0) return {};
    return { inspect: (event) => this.#tell(event, connection) };
  }

  /** An actor that was created with these options, so that those who come later learn of it too. */
  began(actor: AnyActorRef, connection: string): void {
    this.#running.set(actor, { connection, since: Date.now(), tells: this.#onlookers.size > 0 });
  }

  ended(actor: AnyActorRef): void {
    this.#running.delete(actor);
  }

  /** Returns a function that removes the onlooker. One that comes late is told first which actors there are. */
  add(onlooker: Onlooker): () => void {
    this.#onlookers.add(onlooker);
    for (const [actorRef, running] of this.#running) {
      const { connection, since, tells } = running;
      const appeared = { type: '@xstate.actor', actorRef, rootId: actorRef.sessionId } as const;
      quietly(() => onlooker(appeared, connection, since));
      if (tells) continue;
      running.tells = true;
      actorRef.system.inspect((event: InspectionEvent) => this.#tell(event, connection));
    }
    return () => this.#onlookers.delete(onlooker);
  }

  /** XState would lose the event under which an onlooker throws. */
  #tell(event: InspectionEvent, connection: string): void {
    for (const onlooker of this.#onlookers) quietly(() => onlooker(event, connection));
  }
}

const inspections = new WeakMap<object, Inspection>();

/** Called by each supervisor, for those who look on at it while it runs. */
export function offerInspection(supervisor: object, inspection: Inspection): void {
  inspections.set(supervisor, inspection);
}

/** @throws {TypeError} for what is no supervisor of this package. */
export function inspectionOf(supervisor: object): Inspection {
  const found = inspections.get(supervisor);
  if (found === undefined) throw new TypeError('expected a supervisor that createSupervisor() has made');
  return found;
}
