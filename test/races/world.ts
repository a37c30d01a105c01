import type { Scheduler } from 'fast-check';
import { vi } from 'vitest';
import type { Pause } from './script.ts';

const FAKED = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;

/** More than any race takes. */
const MAX_STEPS = 3_000;

/** What Node has told of since the last look. */
const crashes: unknown[] = [];
for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
  process.on(event, (reason: unknown) => void crashes.push(reason));
}

/**
 * In which nothing happens by itself: what is on its way moves when the scheduler lets it, and time passes when a
 * command says so or nothing else is left to happen.
 */
export class World {
  readonly #scheduler: Scheduler;
  readonly #pace: readonly Pause[];
  readonly #wrong: string[] = [];
  #steps = 0;
  #held: Promise<void> | undefined;
  readonly #random = Math.random;
  /** Says what is wrong, whenever all that has been let go has come to rest. */
  atRest: () => string | undefined = () => undefined;

  constructor(scheduler: Scheduler, pace: readonly Pause[], random: number) {
    this.#scheduler = scheduler;
    this.#pace = pace;
    crashes.length = 0;
    vi.useFakeTimers({ now: 0, toFake: [...FAKED] });
    Math.random = () => random;
  }

  [Symbol.dispose](): void {
    vi.useRealTimers();
    Math.random = this.#random;
  }

  /** Resolves when the scheduler says so. */
  readonly letGo = (what: string): Promise<void> => this.#scheduler.schedule(Promise.resolve(), what);

  /** For what is noticed where nobody could catch an error. */
  readonly blame = (wrong: string | undefined): void => {
    if (wrong !== undefined) this.#wrong.push(wrong);
  };

  /** One after the other, each when the scheduler says so, with anything else in between. */
  begin(commands: readonly { label: string; run(): void }[]): void {
    this.#scheduler.scheduleSequence(
      commands.map(({ label, run }) => ({
        label,
        builder: async () => {
          try {
            run();
          } catch (error) {
            this.blame(`"${label}" threw ${error}`);
          }
        },
      })),
    );
  }

  /** Nothing else happens before this has happened and all has come to rest. */
  alone(act: () => void, then = () => {}): void {
    this.#held = (async () => {
      await turn();
      act();
      await turn();
      then();
    })();
  }

  /** The next timer, and all that are due then. */
  passTime(): void {
    vi.advanceTimersToNextTimer();
  }

  /** Lets things happen until nothing is on its way any more, and it is `enough`. */
  async run(enough: () => boolean): Promise<void> {
    for (;;) {
      if (++this.#steps > MAX_STEPS) throw new Error('It does not come to an end');
      if (this.#scheduler.count() === 0) await this.#rest();
      if (this.#scheduler.count() > 0) await this.#letOneGo();
      else if (enough() || vi.getTimerCount() === 0) return;
      else this.passTime();
    }
  }

  /** Lets this much time pass, if there is anything left that could come of it. */
  async runFor(ms: number): Promise<void> {
    const end = Date.now() + ms;
    await this.run(() => Date.now() >= end);
  }

  get timers(): number {
    return vi.getTimerCount();
  }

  async #letOneGo(): Promise<void> {
    void this.#scheduler.waitOne();
    await this.#held;
    this.#held = undefined;
    const pause = this.#pace[this.#steps % this.#pace.length]!;
    if (pause === 'all') return this.#rest();
    for (let microtask = 0; microtask < pause; microtask++) await undefined;
  }

  async #rest(): Promise<void> {
    await turn();
    this.blame(this.atRest());
    for (const crash of crashes.splice(0)) this.blame(`nobody handled ${crash}`);
    if (this.#wrong.length > 0) throw new Error(this.#wrong.join('\n'));
  }
}

/** All microtasks that there are, and those that come of them. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
