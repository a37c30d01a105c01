/** What is told of one connection: its losses, its recreations, and which calls had to do with them. */
import type { Tracer } from '@opentelemetry/api';
import { type Cause, type Evidence, isStricken, type Ownership } from '../../machines/vocabulary.ts';
import type { Step } from '../inspect/steps.ts';
import { quietly } from '../quietly.ts';
import { CAUSE, CONNECTION, OUTCOME, OWNERSHIP, STATE } from './attributes.ts';
import type { CallSpan } from './call-span.ts';
import { type Instruments, secondsSince } from './instruments.ts';
import { Recreation, type RecreationEnd } from './recreation.ts';

/** What is read here of the machine's context; the list of what may leave has let it through. */
interface Known {
  readonly ownership: Ownership;
  readonly generation: number;
  readonly cause?: Cause;
}

const USABLE: readonly string[] = ['ready.steady', 'ready.suspect'];

export class ConnectionTrace {
  readonly #name: string;
  readonly #tracer: Tracer;
  readonly #instruments: Instruments;
  #generation = 0;
  #ownership: Ownership = 'supervisor';
  /** Undefined before it is seen, and once it is closed. */
  #state: string | undefined;
  #lostAt: number | undefined;
  #recreation: Recreation | undefined;
  /** Calls that wait for the connection, or were stricken on the current generation: a recreation would be theirs. */
  readonly #concerned = new Set<CallSpan>();

  constructor(name: string, tracer: Tracer, instruments: Instruments) {
    this.#name = name;
    this.#tracer = tracer;
    this.#instruments = instruments;
  }

  /** A step of its machine. */
  took(step: Step): void {
    const { path, to, event, detail } = step;
    const known = step.context as unknown as Known;
    const state = stateOf(to);
    this.#generation = known.generation;
    this.#ownership = known.ownership;
    this.#count(step.ended ? undefined : state, known);
    if (path.includes('lost')) this.#lost(known);
    if (event === 'open failed') this.#recreation?.dialFailed((detail.error as { cause?: Cause }).cause);
    // Also when a probe has ended: whatever a call met, it was no loss of this generation.
    if (path.length > 0 && USABLE.includes(to)) this.#usable(known);
    if (this.#isRecreating(path, state)) this.#recreates(path, known);
    else this.#recreatesNot(state, known);
  }

  /** A send failed. */
  failed(call: CallSpan, evidence: Evidence, generation: number): void {
    if (generation === this.#generation && isStricken(evidence, this.#ownership)) this.waits(call);
  }

  /** It waits for the connection. */
  waits(call: CallSpan): void {
    if (this.#recreation === undefined) this.#concerned.add(call);
    else this.#recreation.link(call);
  }

  waitsNoMore(call: CallSpan): void {
    this.#concerned.delete(call);
  }

  #count(state: string | undefined, { ownership }: Known): void {
    if (state === this.#state) return;
    const { connections } = this.#instruments;
    if (this.#state !== undefined) connections.add(-1, { [STATE]: this.#state, [OWNERSHIP]: ownership });
    if (state !== undefined) connections.add(1, { [STATE]: state, [OWNERSHIP]: ownership });
    this.#state = state;
  }

  #lost({ ownership, cause }: Known): void {
    this.#lostAt = performance.now();
    this.#instruments.losses.add(1, {
      [CONNECTION]: this.#name,
      [OWNERSHIP]: ownership,
      [CAUSE]: cause ?? 'unrecognised',
    });
  }

  /** Before the first `ready` as well, once a dial has failed: an outage at the start is one too. */
  #isRecreating(path: readonly string[], state: string): boolean {
    if (state !== 'connecting') return state === 'recreating';
    return this.#recreation !== undefined || path.includes('connecting.backingOff');
  }

  #recreates(path: readonly string[], { generation, cause }: Known): void {
    if (this.#recreation === undefined) {
      this.#recreation = new Recreation(this.#tracer, this.#name, generation, cause);
      for (const call of this.#concerned) this.#recreation.link(call);
      this.#concerned.clear();
    }
    if (path.some((name) => name.endsWith('.opening'))) this.#recreation.dialled();
  }

  #recreatesNot(state: string, { generation, cause }: Known): void {
    const recreation = this.#recreation;
    if (recreation === undefined) return;
    this.#recreation = undefined;
    const outcome = (state === 'closing' ? 'closed' : state) as RecreationEnd['outcome'];
    if (recreation.isOfExisting) {
      quietly(() => this.#instruments.recreations.add(1, { [CONNECTION]: this.#name, [OUTCOME]: outcome }));
    }
    recreation.end({ outcome, generation: outcome === 'ready' ? generation : undefined, cause });
  }

  #usable({ ownership }: Known): void {
    this.#concerned.clear();
    if (this.#lostAt === undefined) return;
    const attributes = { [CONNECTION]: this.#name, [OWNERSHIP]: ownership };
    const seconds = secondsSince(this.#lostAt);
    this.#lostAt = undefined;
    quietly(() => this.#instruments.recoveryDuration.record(seconds, attributes));
  }
}

/** `ready` of `ready.steady`. */
function stateOf(name: string): string {
  return name.split('.')[0] as string;
}
