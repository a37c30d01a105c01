/** The generations of one connection: the one that takes new calls, and those whose last calls are settling. */
import type { OpenInput } from '../machines/connection.machine.ts';
import type { Cause } from '../machines/vocabulary.ts';
import type { Generation } from './generation.ts';
import type { Line } from './line.ts';
import { negotiatedVersionOf } from './transports/client-shape.ts';

export class Generations {
  /** Takes new calls. Undefined while the connection is not ready, and while calls are held back. */
  current: Generation | undefined;
  /** The one of a connection that is ready. */
  live: Generation | undefined;
  /** Which one is, or was last, current. */
  last: Generation | undefined;
  /** The revisions that the last two that were current have negotiated; undefined where that is not known. */
  protocolVersion: string | undefined;
  previousProtocolVersion: string | undefined;
  readonly line: Line;
  /** Opened or checked; current once the machine says so. */
  #candidate: Generation | undefined;
  #settling: Generation[] = [];

  constructor(line: Line) {
    this.line = line;
  }

  /** 0 before the first. */
  get number(): number {
    return this.last?.number ?? 0;
  }

  get inFlight(): number {
    const settling = this.#settling.reduce((sum, generation) => sum + generation.inFlight, 0);
    return settling + (this.live?.inFlight ?? 0);
  }

  async open({ generation }: OpenInput, signal: AbortSignal): Promise<void> {
    const opened = await this.line.open(generation, signal);
    // The machine may have moved on in the very tick in which the handshake finished.
    if (signal.aborted) this.line.retire(opened, 'closed');
    else this.#candidate = opened;
  }

  /** Is what the caller supplied connected? */
  verify(): boolean {
    this.#candidate = this.line.check(this.number + 1);
    return this.#candidate !== undefined;
  }

  begin(): void {
    this.live = this.#candidate;
    this.current = this.live;
    this.last = this.live;
    this.previousProtocolVersion = this.protocolVersion;
    this.protocolVersion = this.live && negotiatedVersionOf(this.live.client);
    this.#candidate = undefined;
  }

  /** New calls wait, while the connection stays ready. */
  holdCalls(): void {
    this.current = undefined;
  }

  releaseCalls(): void {
    this.current = this.live;
  }

  /** No new call reaches the current one from here on; those in flight may settle. */
  retire(cause: Cause): void {
    this.#letGo(this.live, cause);
    this.live = undefined;
    this.current = undefined;
  }

  /** One that was opened as the machine left for somewhere else is not wanted any more. */
  dropCandidate(): void {
    this.#letGo(this.#candidate, 'closed');
    this.#candidate = undefined;
  }

  #letGo(generation: Generation | undefined, cause: Cause): void {
    if (generation === undefined) return;
    this.#settling = this.#settling.filter(({ inFlight }) => inFlight > 0);
    this.#settling.push(generation);
    this.line.retire(generation, cause);
  }
}
