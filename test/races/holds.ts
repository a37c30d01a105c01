import fc from 'fast-check';

const { RACES_RUNS, RACES_SEED, RACES_PATH } = process.env;

/** Of each test. Another try would have another seed, and hide what the first has found. */
export const OPTIONS = { retry: 0, timeout: RACES_RUNS === undefined ? 60_000 : 0 };

/** Fails with what replays the failure. `runs`: if nobody asks for another number. */
export async function holds<T>(name: string, runs: number, property: fc.IAsyncProperty<T>): Promise<void> {
  const details = await fc.check(property, {
    numRuns: Number(RACES_RUNS ?? runs),
    ...(RACES_SEED === undefined ? {} : { seed: Number(RACES_SEED) }),
    ...(RACES_PATH === undefined ? {} : { path: RACES_PATH, endOnFailure: true }),
  });
  if (!details.failed) return;
  const { seed, counterexamplePath, errorInstance } = details;
  const replay = `RACES_SEED=${seed} RACES_PATH=${counterexamplePath} npx vitest run test/races -t '${name}'`;
  const report = await fc.asyncDefaultReportMessage(details);
  throw new Error(`${errorInstance}\n\n${report}\n\nTo replay it: ${replay}\n`);
}
