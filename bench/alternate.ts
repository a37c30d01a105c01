/**
 * Side by side in one process: small pieces of the same work, in turn and in a new order each round, so that
 * whatever else the machine does hits every arm alike. What counts is each round's own ratio to the first arm.
 */
import { type Summary, summarise } from './stats.ts';

/** One way to do the work, once per round. Resolves with the milliseconds that it took. */
export type Arm = () => Promise<number>;

export interface Plan {
  readonly rounds: number;
  /** Rounds before the first that counts. */
  readonly warmUp: number;
}

export interface Compared {
  /** Milliseconds, per arm. */
  readonly times: Readonly<Record<string, Summary>>;
  /** To the first arm, per other arm. */
  readonly ratios: Readonly<Record<string, Summary>>;
}

export async function alternate(arms: Readonly<Record<string, Arm>>, plan: Plan): Promise<Compared> {
  const names = Object.keys(arms);
  const times = new Map<string, number[]>(names.map((name) => [name, []]));
  for (let round = -plan.warmUp; round < plan.rounds; round++) {
    for (const name of shuffled(names)) {
      const ms = await (arms[name] as Arm)();
      if (round >= 0) times.get(name)?.push(ms);
    }
  }
  const base = times.get(names[0] as string) as number[];
  const ratios = names.slice(1).map((name) => {
    const perRound = (times.get(name) as number[]).map((ms, round) => ms / (base[round] as number));
    return [name, summarise(perRound)] as const;
  });
  return {
    times: Object.fromEntries(names.map((name) => [name, summarise(times.get(name) as number[])])),
    ratios: Object.fromEntries(ratios),
  };
}

/** Milliseconds of one piece of work, from a block of so many, one after the other. */
export async function timed(work: () => Promise<unknown>, block = 1): Promise<number> {
  const begun = performance.now();
  for (let n = 0; n < block; n++) await work();
  return (performance.now() - begun) / block;
}

function shuffled(names: readonly string[]): string[] {
  return names
    .map((name) => ({ name, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ name }) => name);
}
