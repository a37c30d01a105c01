/** The events that XState itself makes: an actor's end, a delay that has passed. Read from the machine, by name. */
import type { AnyMachineSnapshot, StateMachine } from 'xstate';

// biome-ignore lint/suspicious/noExplicitAny: only one of the parameters is of interest
type Any = any;

export type ActorNames<M> =
  M extends StateMachine<Any, Any, Any, infer A, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any>
    ? A['src']
    : never;

export type DelayNames<M> =
  M extends StateMachine<Any, Any, Any, Any, Any, Any, infer D, Any, Any, Any, Any, Any, Any, Any>
    ? D
    : never;

/** How an actor that is invoked can end. */
export type Ending = { readonly done: unknown } | { readonly failed: unknown };

interface MachineEvent {
  readonly type: string;
}

/** The end of an actor of this name that runs now; nothing if none does. */
export function endingEvent(
  snapshot: AnyMachineSnapshot,
  src: string,
  ending: Ending,
): MachineEvent | undefined {
  const running = snapshot._nodes.flatMap(({ invoke }) => invoke).find((each) => each.src === src);
  if (running === undefined) return undefined;
  const actorId = running.id;
  return 'done' in ending
    ? ({ type: `xstate.done.actor.${actorId}`, output: ending.done, actorId } as MachineEvent)
    : ({ type: `xstate.error.actor.${actorId}`, error: ending.failed, actorId } as MachineEvent);
}

/** A delay of this name that runs now has passed. */
export function delayEvent(snapshot: AnyMachineSnapshot, delay: string): MachineEvent | undefined {
  const running = snapshot._nodes.flatMap(({ after }) => after).find((each) => each.delay === delay);
  return running === undefined ? undefined : { type: String(running.eventType) };
}
