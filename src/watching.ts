/** Watches a connection while it is ready: sends heartbeats, follows the host's sleeps and rows of probes. */
import type { ProbeFinding } from '../machines/connection.machine.ts';
import type { ConnectionActor } from './connection-actor.ts';
import type { Generations } from './generations.ts';
import { hostSleep } from './host-sleep.ts';
import type { Settings } from './options.ts';

export class Watching {
  readonly #actor: ConnectionActor;
  readonly #generations: Generations;
  readonly #heartbeatMs: number | undefined;
  readonly #waitForReady: boolean;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #isRunning = false;
  /** A row of probes is under way. */
  #isDoubted = false;

  constructor(actor: ConnectionActor, generations: Generations, { liveness, recovery }: Settings) {
    this.#actor = actor;
    this.#generations = generations;
    this.#heartbeatMs = liveness.heartbeatMs;
    this.#waitForReady = recovery.waitForReady;
  }

  start(): void {
    this.#isRunning = true;
    hostSleep.watch();
    const { live, number: generation } = this.#generations;
    if (live !== undefined) live.sleepsSeen = hostSleep.count;
    if (this.#heartbeatMs === undefined) return;
    const beat = () => this.#actor.tell({ type: 'suspected', generation, cause: 'heartbeat' });
    this.#heartbeat = setInterval(beat, this.#heartbeatMs);
    (this.#heartbeat as { unref?: () => void }).unref?.();
  }

  stop(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#isDoubted = false;
    clearInterval(this.#heartbeat);
    hostSleep.unwatch();
  }

  /** Calls that are in flight as a row of probes begins keep their own deadlines. */
  probeBegins(): void {
    if (this.#isDoubted) return;
    this.#isDoubted = true;
    this.#generations.live?.beginDoubt();
  }

  /** Any message ends the row. */
  probeEnded(found: ProbeFinding): void {
    this.#isDoubted = found !== 'usable';
    if (this.#isDoubted) this.#generations.live?.reportNextMessage();
    if (found === 'unreachable' && this.#waitForReady) this.#generations.holdCalls();
    else this.#generations.releaseCalls();
  }
}
