/**
 * One connection with several operations, as pure transitions: both machines, and between them what src/calls.ts and
 * src/troubles.ts do. Nothing runs here. What the server did with each request is known, as it is to nobody else.
 *
 * Coarser than src/ in this: a failed send is judged, reported and told to its operation's machine in one step; and
 * generations have no numbers, they are current or older.
 */
import { fromTransition } from 'xstate';
import type { ConnectionEmitted, ConnectionEvent } from '../../machines/connection.machine.ts';
import type { OperationEvent } from '../../machines/operation.machine.ts';
import { type Evidence, isStricken } from '../../machines/vocabulary.ts';
import type { Present } from '../../src/trouble-answers.ts';
import type { ComposedEvent, RequestEnd } from './composed-environment.ts';
import type { Parts } from './composed-parts.ts';
import { type Composed, type ComposedInput, NOT_BEGUN, type Operation } from './composed-state.ts';

const OLDER = 1;
const CURRENT = 2;

/** As src/calls.ts says it where there is no usable generation. */
const NOWHERE_TO_SEND: Evidence = { connection: 'lost', execution: 'none', cause: 'not-connected' };

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
  #connection: Composed['connection'];
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
    const state = parts.connection.stateOf(connection);
    this.#present = {
      state: state.split('.')[0] as Present['state'],
      generation: CURRENT,
      probing: state === 'ready.probing',
    };
  }

  take(event: ComposedEvent): Composed {
    const before = this.#connection;
    const wasDue = this.#dialIsDue;
    switch (event.type) {
      case 'connection':
        this.#dialIsDue ||= event.asksForDial;
        this.#tell(event.event);
        break;
      case 'begin':
        this.#begin(event.operation);
        break;
      case 'request ends':
        this.#endRequest(event.operation, event.end);
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
      for (const { type, params } of actions) {
        if (type === 'xstate.spawnChild' && (params as { src: string }).src === 'open') this.#dial();
        if (type === 'xstate.emit') this.#hear((params as { event: ConnectionEmitted }).event);
      }
      this.#present = {
        ...this.#present,
        probing: this.#parts.connection.stateOf(snapshot) === 'ready.probing',
      };
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
      this.#operations.forEach(({ onCurrent }, index) => {
        if (onCurrent) this.#change(index, { onCurrent: false });
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
    if (state === 'ready') {
      this.#send(index);
      return;
    }
    if (state === 'closing' || state === 'closed') {
      this.#change(index, { phase: 'ended', toldUnrun: true });
      return;
    }
    this.#tell({ type: 'demand' });
    const isLost = this.#present.state === 'failed-ownership';
    this.#beTrouble(index, isLost ? NOWHERE_TO_SEND : null);
  }

  #send(index: number): void {
    if (this.#present.state !== 'ready') {
      this.#operate(index, { type: 'failed', evidence: NOWHERE_TO_SEND });
      return;
    }
    const { sends } = this.#operations[index]!;
    this.#did.sends++;
    this.#change(index, { inFlight: true, onCurrent: true, sends: sends + 1 });
  }

  #endRequest(index: number, { ran, proves }: RequestEnd): void {
    const { runs, trouble, onCurrent } = this.#operations[index]!;
    this.#change(index, { inFlight: false, runs: runs + (ran ? 1 : 0) });
    if (proves === undefined) {
      if (trouble === undefined) this.#change(index, { phase: 'ended' });
      else this.#operate(index, { type: 'answered' });
      return;
    }
    // A loss of the current generation, whatever the machine makes of it.
    if (onCurrent && proves.connection === 'lost') this.#dialIsDue = true;
    const evidence = this.#judge(proves, onCurrent);
    if (onCurrent) this.#report(index, evidence);
    if (trouble === undefined) this.#beTrouble(index, evidence);
    else this.#operate(index, { type: 'failed', evidence });
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
    if (snapshot.status !== 'done') return;
    const toldUnrun = this.#parts.saysUnrun(snapshot, this.#operations[index]!.sends);
    this.#change(index, { phase: 'ended', inFlight: false, waitsFor: 'nothing', toldUnrun });
  }

  #wait(index: number, waitsFor: 'usable' | 'proof'): void {
    this.#change(index, { waitsFor });
    this.#answer(index);
  }

  #answer(index: number): void {
    const { waitsFor, onCurrent } = this.#operations[index]!;
    if (waitsFor === 'nothing') return;
    const { answerToWaiting, answerToConfirming } = this.#parts;
    const answer =
      waitsFor === 'usable'
        ? answerToWaiting(this.#present)
        : answerToConfirming(this.#present, onCurrent ? CURRENT : OLDER);
    if (answer === undefined) return;
    this.#change(index, { waitsFor: 'nothing' });
    this.#operate(index, answer);
  }

  #change(index: number, change: Partial<Operation>): void {
    this.#operations[index] = { ...this.#operations[index]!, ...change };
  }
}
