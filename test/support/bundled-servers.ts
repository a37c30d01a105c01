/** Makes the test servers one file each, once for a whole run: to load their packages file by file is half of what one costs. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const SCRIPTS = ['http-server', 'stdio-server', 'stdio-leader'];

/** What is CommonJS in them asks for Node's modules with `require`. */
const REQUIRE =
  "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-steward-servers-'));
  const sources = fileURLToPath(new URL('../servers/', import.meta.url));
  await build({
    entryPoints: SCRIPTS.map((name) => `${sources}${name}.mjs`),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    banner: { js: REQUIRE },
    bundle: true,
    splitting: true,
    minify: true,
    keepNames: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
  });
  process.env.MCP_STEWARD_TEST_SERVERS = folder;
  return () => rm(folder, { recursive: true });
}
