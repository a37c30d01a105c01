/** XState's inspection events in the protocol of `@statelyai/inspect`, with nothing in them that may not leave. */
import type { StatelyInspectionEvent } from '@statelyai/inspect';
import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, InspectionEvent } from 'xstate';
import { allowed } from './redaction.ts';
import { isMachine, machineOf } from './steps.ts';

/** The version of the protocol that is spoken here. */
const PROTOCOL_VERSION = '0.7.2';

/** What the protocol has no word for, and what is not a machine, is not told. */
export function statelyEvent(event: InspectionEvent): StatelyInspectionEvent | undefined {
  const actor = event.actorRef as AnyActorRef;
  if (!isMachine(actor)) return undefined;
  const common = {
    sessionId: actor.sessionId,
    rootId: event.rootId,
    createdAt: String(Date.now()),
    id: null as never,
    _version: PROTOCOL_VERSION,
  };
  switch (event.type) {
    case '@xstate.actor':
      return {
        ...common,
        type: event.type,
        name: actor.id,
        parentId: undefined,
        definition: definitionOf(machineOf(actor)),
        snapshot: redacted(actor.getSnapshot() as AnyMachineSnapshot | undefined),
      };
    case '@xstate.event':
      return {
        ...common,
        type: event.type,
        event: { type: event.event.type, ...allowed(event.event) },
        sourceId: event.sourceRef?.sessionId,
      };
    case '@xstate.snapshot':
      return {
        ...common,
        type: event.type,
        event: { type: event.event.type, ...allowed(event.event) },
        snapshot: redacted(event.snapshot as AnyMachineSnapshot) as never,
      };
    default:
      return undefined;
  }
}

/** One that has just been created has no snapshot yet. */
function redacted(snapshot: AnyMachineSnapshot | undefined) {
  if (snapshot === undefined) return { status: 'active' as const };
  return { status: snapshot.status, value: snapshot.value, context: allowed(snapshot.context) };
}

const definitions = new WeakMap<AnyStateMachine, string>();

/** The machine as it stands in the source: nothing of any connection is in it. */
function definitionOf(machine: AnyStateMachine): string {
  const known = definitions.get(machine);
  if (known !== undefined) return known;
  const definition = JSON.stringify(machine.config, (_key, value: unknown) =>
    typeof value === 'function' ? { type: value.name } : value,
  );
  definitions.set(machine, definition);
  return definition;
}
