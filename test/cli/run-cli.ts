/** Runs the command line as a shell does. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFailed, onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** For Node, to run a file of the source without a build. */
export function sourceArgs(file: string): string[] {
  return ['--import', TSX, file];
}

export const NODE_ARGS = sourceArgs(MAIN);

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class RunningCli {
  stdout = '';
  stderr = '';
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #output: Readable;
  readonly #closed: Promise<unknown>;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#output = child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.#closed = once(child, 'close');
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    onTestFailed(() => console.error(`It printed:\n${this.stdout}${this.stderr}`));
  }

  /** Waits until it has printed what is looked for. How long that may take is for the test to say. */
  async printed(what: RegExp): Promise<void> {
    while (!what.test(this.stdout)) {
      const more = once(this.#output, 'data').then(() => true);
      const ended = this.#closed.then(() => false);
      if (!(await Promise.race([more, ended]))) throw new Error(`ended, and has not printed ${what}`);
    }
  }

  closeOutput(): void {
    this.#output.destroy();
  }

  interrupt(signal: NodeJS.Signals = 'SIGINT'): void {
    this.#child.kill(signal);
  }

  async ended(): Promise<Ended> {
    await this.#closed;
    return { code: this.#child.exitCode, stdout: this.stdout, stderr: this.stderr };
  }
}

export function startCli(args: readonly string[], env: Record<string, string> = {}): RunningCli {
  const { PATH = '' } = process.env;
  return new RunningCli(spawn(process.execPath, [...NODE_ARGS, ...args], { env: { PATH, ...env } }));
}

export function runCli(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return startCli(args, env).ended();
}

/** A file with this content, which goes with the test. */
export function configFile(content: object | string): string {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-steward-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'mcp.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
