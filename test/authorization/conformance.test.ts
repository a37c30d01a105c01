// The auth scenarios of the official conformance suite, through an owned handle.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SUITES = ['auth', 'backcompat', 'draft', 'extensions'] as const;

const SCENARIOS = [
  '2025-03-26-oauth-endpoint-fallback',
  '2025-03-26-oauth-metadata-backcompat',
  'basic-cimd',
  'client-credentials-basic',
  'client-credentials-jwt',
  'cross-app-access-complete-flow',
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'offline-access-not-supported',
  'offline-access-scope',
  'pre-registration',
  'resource-mismatch',
  'scope-from-scopes-supported',
  'scope-from-www-authenticate',
  'scope-omitted-when-undefined',
  'scope-retry-limit',
  'scope-step-up',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-none',
  'token-endpoint-auth-post',
];

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const PROGRAM = createRequire(import.meta.url)
  .resolve('@modelcontextprotocol/conformance/package.json')
  .replace('package.json', 'dist/index.js');

/** What the suite prints of each scenario. */
function run(suite: string, outputDir: string): Promise<string> {
  const client = `node --import tsx ${here('conformance-client.ts')}`;
  const options = ['--suite', suite, '--command', client, '--output-dir', outputDir, '--timeout', '90000'];
  return new Promise((resolve) => {
    const args = ['--import', here('glob-sync.mjs'), PROGRAM, 'client', ...options];
    execFile(process.execPath, args, { maxBuffer: 1e8 }, (_error, stdout) => resolve(stdout));
  });
}

it('passes every scenario', async () => {
  const outputDir = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const printed = (await Promise.all(SUITES.map((suite) => run(suite, outputDir)))).join('\n');
    const passed = [...printed.matchAll(/^✓ auth\/(\S+): \d+ passed, 0 failed$/gm)].map(([, name]) => name);
    expect(passed.sort()).toEqual(SCENARIOS);
    expect(printed.match(/^[✗⚠].*$/gm) ?? []).toEqual([]);
  } finally {
    await rm(outputDir, { recursive: true });
  }
}, 120_000);
