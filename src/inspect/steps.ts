/** What the machines do, as steps that may leave the process: one for each event that a machine took. */
import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, InspectionEvent, StateValue } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import type { Onlooker } from '../inspection.ts';
import { eventName } from './chart.ts';
import { type Allowed, allowed } from './redaction.ts';

export interface Step {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Of a machine that was there before it is seen: when it began. */
  readonly since: number | undefined;
  /** The connection's name. */
  readonly connection: string;
  readonly machine: 'connection' | 'operation';
  /** One machine that runs; unique in this process. */
  readonly actor: string;
  /** What it was told, in words: `lost`, `open failed`, `after backoff`; `created`, or `appeared` when it was there before. */
  readonly event: string;
  /** What may be told of that event. */
  readonly detail: Allowed;
  /** Where it was: `ready.steady`; empty when it is seen first. */
  readonly from: string;
  /** Every state that it went through, in order; empty when it stayed where it was. */
  readonly path: readonly string[];
  readonly to: string;
  /** What may be told of its context after the step. */
  readonly context: Allowed;
  /** Nothing takes this event in this state: it changed nothing. */
  readonly ignored: boolean;
  /** It has reached a final state. */
  readonly ended: boolean;
}

interface Taken {
  readonly event: { readonly type: string };
  readonly snapshot: AnyMachineSnapshot;
}

/** What one machine has done since the last event that it took. */
interface Going {
  from: string;
  path: string[];
  ignored: boolean;
}

export function steps(emit: (step: Step) => void): Onlooker {
  const going = new WeakMap<AnyActorRef, Going>();
  return (event, connection, since) => {
    const actor = event.actorRef as AnyActorRef;
    if (!isMachine(actor)) return;
    if (event.type === '@xstate.actor') going.set(actor, { from: '', path: [], ignored: false });
    const machine = going.get(actor);
    const taken = eventTaken(event);
    if (machine === undefined) return;
    if (event.type === '@xstate.microstep') noteMicrostep(machine, event);
    if (taken === undefined) return;
    const step = stepOf(connection, actor, { ...taken, since }, machine);
    going.set(actor, { from: step.to, path: [], ignored: false });
    emit(step);
  };
}

/** Only the machines are shown, not what they invoke. */
export function isMachine(actor: AnyActorRef): boolean {
  return (actor as { _parent?: unknown })._parent === undefined;
}

export function machineOf(actor: AnyActorRef): AnyStateMachine {
  return (actor as unknown as { logic: AnyStateMachine }).logic;
}

/** What ends a step: an event that was dealt with, or the first sight of an actor that was there before. */
function eventTaken(event: InspectionEvent): Taken | undefined {
  if (event.type === '@xstate.snapshot') {
    return { event: event.event, snapshot: event.snapshot as AnyMachineSnapshot };
  }
  if (event.type !== '@xstate.actor') return undefined;
  const snapshot = (event.actorRef as AnyActorRef).getSnapshot() as AnyMachineSnapshot | undefined;
  // One that has just been created has none yet, and says so itself when it starts.
  return snapshot === undefined ? undefined : { event: { type: 'appeared' }, snapshot };
}

function noteMicrostep(machine: Going, event: InspectionEvent & { type: '@xstate.microstep' }): void {
  const { _transitions, snapshot } = event;
  machine.ignored = _transitions.length === 0;
  if (_transitions.some(({ target }) => target !== undefined)) {
    machine.path.push(nameOf((snapshot as AnyMachineSnapshot).value));
  }
}

function stepOf(
  connection: string,
  actor: AnyActorRef,
  { event, snapshot, since }: Taken & Pick<Step, 'since'>,
  { from, path, ignored }: Going,
): Step {
  const logic = machineOf(actor);
  const to = nameOf(snapshot.value);
  return {
    at: Date.now(),
    since,
    connection,
    machine: logic.id === connectionMachine.id ? 'connection' : 'operation',
    actor: actor.sessionId,
    event: eventName(logic, event.type),
    detail: allowed(event),
    from,
    path,
    to,
    context: allowed(snapshot.context),
    ignored,
    ended: snapshot.status !== 'active',
  };
}

/** `{ ready: 'steady' }` as `ready.steady`. */
export function nameOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value)
    .map(([key, inner]) => (inner === undefined ? key : `${key}.${nameOf(inner)}`))
    .join(' ');
}
