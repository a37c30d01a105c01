/** What the tests of silence wait for. */
import type { Logger } from '../../src/index.ts';
import type { Owned } from './owned.ts';
import { until } from './until.ts';

/** Counts what is said of probes. */
export class ProbeLog {
  unanswered = 0;
  readonly logger: Logger;

  constructor() {
    const hear = (_facts: object, text: string) => {
      if (text === 'Probe unanswered') this.unanswered++;
    };
    this.logger = { debug: hear, info: hear, warn: hear, error: hear };
  }

  async untilUnanswered(times: number): Promise<void> {
    await until(() => this.unanswered >= times, { what: `${times} unanswered probes` });
  }
}

/** When its generation was lost, in milliseconds since the epoch. */
export async function lossOf({ handle }: Owned): Promise<{ at: number; cause: string }> {
  return new Promise((resolve) => {
    const forget = handle.on('lost', ({ at, cause }) => {
      forget();
      resolve({ at, cause });
    });
  });
}
