// Nothing that the MCP specification lets a client ask is unknown here: by the SDK's own union of requests.
import { ClientRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it } from 'vitest';

it('every request of the specification has a kind and a policy', async () => {
  // Imported here, because a file of tests that cannot be loaded has no test that fails, and the mutation run counts tests.
  const { OPERATIONS } = await import('../../src/operations.ts');
  const specified = ClientRequestSchema.options.map((request) => request.shape.method.value);
  // The handshake is the client's own: no host sends it, and a new generation makes a new one.
  const asked = specified.filter((method) => method !== 'initialize');
  expect(asked.length).toBeGreaterThan(10);
  const known = Object.values(OPERATIONS).map(({ method }) => method);
  // `server/discover` is of revision 2026-07-28, which this SDK does not have.
  expect(known.sort()).toEqual([...asked, 'server/discover'].sort());
});
