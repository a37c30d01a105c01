import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What judges each mutant: the cheap ones first. No test that starts a process: it would start one for each mutant. */
const JUDGES = ['test/evidence/', 'test/machines/', 'test/paths/model-demand', 'test/paths/actor-'];

class CheapFirst extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => JUDGES.findIndex((start) => moduleId.includes(start));
    return specs.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: JUDGES.map((start) => `${start}*.test.ts`),
    sequence: { sequencer: CheapFirst },
    setupFiles: ['test/mutation/stop-at-first.ts'],
    // Stryker ends what does not end. A test that is only slow, on a busy machine, has noticed nothing.
    testTimeout: 600_000,
    env: { XSTATE_BUILD: 'development' },
    // One thread for all files, with modules of ours loaded anew for each: the SDKs are loaded once.
    poolOptions: { threads: { singleThread: true } },
    // Stryker asks what became of the tests; nobody reads the same a thousand times on a terminal.
    reporters: [{}],
  },
});
