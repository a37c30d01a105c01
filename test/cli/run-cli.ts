/** Runs the command line as a shell does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { onTestFinished, vi } from 'vitest';

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
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#closed = once(child, 'close');
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    onTestFinished(() => void child.kill('SIGKILL'));
  }

  /** Waits until it has printed what is looked for. */
  async printed(what: RegExp): Promise<void> {
    await vi.waitFor(
      () => {
        if (!what.test(this.stdout)) throw new Error(`not printed: ${what}\n${this.stdout}${this.stderr}`);
      },
      { timeout: 15_000, interval: 20 },
    );
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
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
