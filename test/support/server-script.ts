import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file to run: bundled where the run has made it so (bundled-servers.ts). */
export function serverScript(name: 'http-server' | 'stdio-server' | 'stdio-leader'): string {
  const folder =
    process.env.MCP_STEWARD_TEST_SERVERS ?? fileURLToPath(new URL('../servers/', import.meta.url));
  return join(folder, `${name}.mjs`);
}
