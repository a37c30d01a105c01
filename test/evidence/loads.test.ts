// A file of tests whose imports throw has no test that fails, and the mutation run counts tests: so this is one.
import { expect, it } from 'vitest';

it('the table of operations can be loaded', async () => {
  await expect(import('../../src/operations.ts')).resolves.toHaveProperty('OPERATIONS');
});
