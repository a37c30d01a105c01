/** The package as a host would have it: built, with its package.json, in a consumer's node_modules. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

export interface BuiltPackage extends Disposable {
  /** `dist/src/index.js` */
  readonly entry: string;
  /** Runs a script in a consumer's folder. */
  run(script: string, type: 'module' | 'commonjs'): { status: number | null; stdout: string; stderr: string };
  /** Runs the package's command. */
  bin(args: readonly string[]): { status: number | null; stdout: string; stderr: string };
  /** What `tsc` says about a consumer's file; empty if nothing. */
  check(source: string, options: { module: string; moduleResolution: string }): string;
}

export function buildPackage(): BuiltPackage {
  const folder = mkdtempSync(join(tmpdir(), 'steward-package-'));
  const packaged = join(folder, 'package');
  const consumer = join(folder, 'consumer');
  mkdirSync(packaged);
  mkdirSync(join(consumer, 'node_modules/@types'), { recursive: true });
  const dist = join(packaged, 'dist');
  // The types themselves are checked by the project's own type check.
  execFileSync(process.execPath, [TSC, '-p', 'tsconfig.build.json', '--noCheck', '--outDir', dist], {
    cwd: ROOT,
  });
  execFileSync(process.execPath, ['build/copy-static.mjs', dist], { cwd: ROOT });
  cpSync(join(ROOT, 'package.json'), join(packaged, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(packaged, 'node_modules'));
  symlinkSync(packaged, join(consumer, 'node_modules/mcp-steward'));
  for (const name of ['@modelcontextprotocol', '@types/node', 'undici-types', 'zod']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(consumer, 'node_modules', name));
  }

  return {
    entry: join(dist, 'src/index.js'),
    run(script, type) {
      const file = join(consumer, type === 'module' ? 'run.mjs' : 'run.cjs');
      writeFileSync(file, script);
      return spawnSync(process.execPath, [file], { cwd: consumer, encoding: 'utf8' });
    },
    bin(args) {
      const { bin } = JSON.parse(readFileSync(join(packaged, 'package.json'), 'utf8'));
      const command = join(packaged, bin['mcp-steward']);
      return spawnSync(process.execPath, [command, ...args], { cwd: consumer, encoding: 'utf8' });
    },
    check(source, { module, moduleResolution }) {
      writeFileSync(join(consumer, 'package.json'), JSON.stringify({ type: 'module' }));
      writeFileSync(join(consumer, 'use.ts'), source);
      const flags = ['--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2023,dom,esnext.disposable'];
      const args = [TSC, ...flags, '--module', module, '--moduleResolution', moduleResolution, 'use.ts'];
      return spawnSync(process.execPath, args, { cwd: consumer, encoding: 'utf8' }).stdout;
    },
    [Symbol.dispose]: () => rmSync(dirname(packaged), { recursive: true, force: true }),
  };
}
