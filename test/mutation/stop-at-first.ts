/** One test that fails has killed the mutant: the files after it, which run in the same thread, are not loaded. */
import { afterEach } from 'vitest';

const thread = globalThis as { aTestHasFailed?: true };

if (thread.aTestHasFailed) throw new Error('Not run: a test has failed');

afterEach(({ task }) => {
  if (task.result?.state === 'fail') thread.aTestHasFailed = true;
});
