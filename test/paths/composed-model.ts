/**
 * One connection with several operations, as pure transitions: both machines, and between them what src/calls.ts and
 * src/troubles.ts do. Nothing runs here. What the server did with each request is known, as it is to nobody else.
 *
 * Coarser than src/ in this: a failed send is judged, reported and told to its operation's machine in one step.
 */
import { fromTransition, type SnapshotFrom } from 'xstate';
import type {
  ConnectionEmitted,
  ConnectionEvent,
  ConnectionInput,
  connectionMachine,
} from '../../machines/connection.machine.ts';
import type { OperationEvent, operationMachine } from '../../machines/operation.machine.ts';
import { type Evidence, isStricken, type ReplayPolicy } from '../../machines/vocabulary.ts';
import type { answerToConfirming, answerToWaiting, Present } from '../../src/trouble-answers.ts';
import type { ComposedEvent } from './composed-environment.ts';
import { toldOf } from './composed-told.ts';
import type { PureMachine } from './pure-machine.ts';
import { stateName } from './state-name.ts';

export type ConnectionSnapshot = SnapshotFrom<typeof connectionMachine>;
type OperationSnapshot = SnapshotFrom<typeof operationMachine>;

/** What is composed. Tests put broken ones in their places. */
export interface Parts {
  readonly connection: PureMachine<typeof connectionMachine>;
  readonly operation: PureMachine<typeof operationMachine>;
  readonly answerToWaiting: typeof answerToWaiting;
  readonly answerToConfirming: typeof answerToConfirming;
}

export interface Operation {
  readonly policy: ReplayPolicy;
  readonly phase: 'not begun' | 'begun' | 'ended';
  /** A request of it is under way. */
  readonly inFlight: boolean;
  /** Its last request was sent on the generation that is current. */
  readonly onCurrent: boolean;
  /** Since it was in trouble. */
  readonly trouble: OperationSnapshot | undefined;
  readonly waitsFor: 'nothing' | 'usable' | 'proof';
  /** How often it was sent, and how often the server ran it. */
  readonly sends: number;
  readonly runs: number;
  /** What its caller was told in the end, if by an error of ours. */
  readonly told: string | undefined;
}

export interface Composed {
  readonly connection: ConnectionSnapshot;
  readonly operations: readonly Operation[];
  /** Since the last dial, something has happened that asks for one: a loss, a failed dial, a host. */
  readonly dialIsDue: boolean;
  /** What the last step did. It does not tell configurations apart. */
  readonly did: { readonly dials: number; readonly dialsNotDue: number; readonly sends: number };
}

export interface ComposedInput extends ConnectionInput {
  readonly policies: readonly ReplayPolicy[];
}

const NOT_BEGUN = {
  phase: 'not begun',
  inFlight: false,
  onCurrent: false,
  trouble: undefined,
  waitsFor: 'nothing',
  sends: 0,
  runs: 0,
  told: undefined,
} as const satisfies Partial<Operation>;

export type ComposedLogic = ReturnType<typeof composedLogic>;

export function composedLogic(parts: Parts) {
  return fromTransition(
    (state: Composed, event: ComposedEvent) => new Turn(parts, state).take(event),
    ({ input: { policies, ...input } }: { input: ComposedInput }): Composed => ({
      connection: parts.connection.begin(input).snapshot,
      operations: policies.map((policy) => ({ ...NOT_BEGUN, policy })),
      dialIsDue: input.lazy,
      did: { dials: 0, dialsNotDue: 0, sends: 0 },
    }),
  );
}

/** What follows from one event of the world, until nothing more follows. */
class Turn {
  readonly #parts: Parts;
  #connection: ConnectionSnapshot;
  /** As the machine has announced it, which is ahead of its snapshot in the middle of a step. */
  #present: Present;
  #dialIsDue: boolean;
  readonly #operations: Operation[];
  readonly #did = { dials: 0, dialsNotDue: 0, sends: 0 };
  readonly #mailbox: ConnectionEvent[] = [];
  #isInStep = false;

  constructor(parts: Parts, { connection, operations, dialIsDue }: Composed) {
    this.#parts = parts;
    this.#connection = connection;
    this.#operations = [...operations];
    this.#dialIsDue = dialIsDue;
    const state = stateName(connection.value);
    this.#present = {
      state: state.split('.')[0] as Present['state'],
      generation: 1,
      probing: state === 'ready.probing',
    };
  }

  take(event: ComposedEvent): Composed {
    const before = this.#connection;
    const wasDue = this.#dialIsDue;
    if (event.justifiesDial) this.#dialIsDue = true;
    switch (event.type) {
      case 'connection':
        this.#tell(event.event);
        break;
      case 'begin':
        this.#begin(event.operation);
        break;
      case 'end of request':
        this.#endRequest(event.operation, event.ran, event.evidence);
        break;
      case 'abort':
      case 'deadline':
        this.#operate(event.operation, { type: event.type });
        break;
    }
    // What changed nothing asked for nothing.
    if (this.#connection === before) this.#dialIsDue = wasDue;
    return {
      connection: this.#connection,
      operations: this.#operations,
      dialIsDue: this.#dialIsDue,
      did: this.#did,
    };
  }

  // The connection: src/connection-actor.ts, src/connection.ts.

  #tell(event: ConnectionEvent): void {
    if (this.#present.state === 'closed') return;
    this.#mailbox.push(event);
    if (this.#isInStep) return;
    this.#isInStep = true;
    for (let next = this.#mailbox.shift(); next !== undefined; next = this.#mailbox.shift()) {
      const { snapshot, actions } = this.#parts.connection.next(this.#connection, next);
      this.#connection = snapshot;
      for (const { type, params } of actions as readonly { type: string; params: never }[]) {
        if (type === 'xstate.spawnChild' && (params as { src: string }).src === 'open') this.#dial();
        if (type === 'xstate.emit') this.#hear((params as { event: ConnectionEmitted }).event);
      }
      this.#present = { ...this.#present, probing: stateName(snapshot.value) === 'ready.probing' };
    }
    this.#isInStep = false;
  }

  #dial(): void {
    this.#did.dials++;
    if (!this.#dialIsDue) this.#did.dialsNotDue++;
    this.#dialIsDue = false;
  }

  #hear(said: ConnectionEmitted): void {
    if (said.type === 'entered') {
      this.#present = { ...this.#present, state: said.state, probing: false };
      // Whatever is in flight is now of an older generation, or of one that takes no more calls.
      this.#operations.forEach((_, index) => {
        this.#change(index, { onCurrent: false });
      });
    }
    if (said.type === 'probed') this.#present = { ...this.#present, probing: false };
    if (said.type === 'entered' || said.type === 'probed') {
      this.#operations.forEach((_, index) => {
        this.#answer(index);
      });
    }
  }

  // The operations: src/calls.ts.

  #begin(index: number): void {
    this.#change(index, { phase: 'begun' });
    const { state } = this.#present;
    if (state === 'ready') return this.#send(index);
    if (state === 'closing' || state === 'closed') {
      return this.#change(index, { phase: 'ended', told: toldOf('unavailable', 'closed', 0, null) });
    }
    this.#tell({ type: 'demand' });
    const isLost = this.#present.state === 'failed-ownership';
    this.#beTrouble(index, isLost ? { connection: 'lost', execution: 'none', cause: 'not-connected' } : null);
  }

  #send(index: number): void {
    const { sends } = this.#operations[index]!;
    this.#did.sends++;
    this.#change(index, { inFlight: true, onCurrent: true, sends: sends + 1 });
  }

  #endRequest(index: number, ran: boolean, evidence: Evidence | undefined): void {
    const { runs, trouble, onCurrent } = this.#operations[index]!;
    this.#change(index, { inFlight: false, runs: runs + (ran ? 1 : 0) });
    if (evidence === undefined) {
      if (trouble === undefined) this.#change(index, { phase: 'ended' });
      else this.#operate(index, { type: 'answered' });
      return;
    }
    const judged = this.#judge(evidence, onCurrent);
    if (onCurrent) this.#report(index, judged);
    if (trouble === undefined) this.#beTrouble(index, judged);
    else this.#operate(index, { type: 'failed', evidence: judged });
  }

  /** What was in flight on a generation that is gone has no other way to learn it. */
  #judge(evidence: Evidence, isCurrent: boolean): Evidence {
    if (evidence.connection !== 'suspect' || isCurrent) return evidence;
    const isGone = this.#present.state === 'failed-ownership' || isStricken(evidence);
    return isGone ? { ...evidence, connection: 'lost' } : evidence;
  }

  #report(index: number, { connection, execution, cause }: Evidence): void {
    const { generation } = this.#connection.context;
    const { policy, trouble } = this.#operations[index]!;
    if (connection === 'suspect') {
      const busy = this.#operations.some((each) => each.inFlight && each.onCurrent);
      this.#tell({ type: 'suspected', generation, cause, busy });
    }
    if (connection !== 'lost' || execution === 'answered') return;
    const stricken = trouble === undefined ? { kind: 'tool' as const, policy, execution } : null;
    this.#tell({ type: 'lost', generation, cause, stricken });
  }

  // Those in trouble: src/troubles.ts.

  #beTrouble(index: number, evidence: Evidence | null): void {
    const { policy, sends } = this.#operations[index]!;
    const { ownership } = this.#connection.context;
    const input = { kind: 'tool', policy, ownership, evidence, sends, admission: 'waits' } as const;
    this.#follow(index, this.#parts.operation.begin(input));
  }

  #operate(index: number, event: OperationEvent): void {
    const { trouble } = this.#operations[index]!;
    if (trouble?.status === 'active') this.#follow(index, this.#parts.operation.next(trouble, event));
  }

  #follow(index: number, { snapshot, actions }: ReturnType<Parts['operation']['next']>): void {
    this.#change(index, { trouble: snapshot });
    for (const { type } of actions) {
      if (type === 'demandConnection') {
        this.#tell({ type: 'demand' });
        this.#wait(index, 'usable');
      }
      if (type === 'awaitProof') this.#wait(index, 'proof');
      if (type === 'send') this.#send(index);
    }
    const { sends } = this.#operations[index]!;
    const { status, value, context } = snapshot;
    if (status === 'done') {
      const told = toldOf(value, context.unavailability, sends, context.evidence);
      this.#change(index, { phase: 'ended', inFlight: false, waitsFor: 'nothing', told });
    }
  }

  #wait(index: number, waitsFor: 'usable' | 'proof'): void {
    this.#change(index, { waitsFor });
    this.#answer(index);
  }

  #answer(index: number): void {
    const { waitsFor, onCurrent } = this.#operations[index]!;
    if (waitsFor === 'nothing') return;
    const { answerToWaiting, answerToConfirming } = this.#parts;
    const { generation } = this.#present;
    const answer =
      waitsFor === 'usable'
        ? answerToWaiting(this.#present)
        : answerToConfirming(this.#present, onCurrent ? generation : generation - 1);
    if (answer === undefined) return;
    this.#change(index, { waitsFor: 'nothing' });
    this.#operate(index, answer);
  }

  #change(index: number, change: Partial<Operation>): void {
    this.#operations[index] = { ...this.#operations[index]!, ...change };
  }
}
