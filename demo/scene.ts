import type { ConnectionHandle, Supervisor } from '../src/index.ts';
import type { Ledger } from './ledger.ts';

/** What a scene is given. */
interface Stage {
  readonly supervisor: Supervisor;
  readonly ledger: Ledger;
  /** Shows each transition of the connection as it happens. */
  watch(handle: ConnectionHandle): void;
  /** Tells what happens, in one line. */
  say(text: string): void;
  /** What the scene claims: shown, and the scene does not hold if it is not so. */
  claim(text: string, holds: boolean): void;
}

export interface Scene {
  readonly name: string;
  readonly title: string;
  /** Returns how many generations its connection had. */
  play(stage: Stage): Promise<number>;
}

/** What became of a scene. `initializes` and `executions` are what the servers wrote down. */
export interface Outcome {
  readonly scene: string;
  readonly ok: boolean;
  readonly generations: number;
  readonly initializes: number;
  readonly executions: number;
  readonly error?: string;
}

export const CLIENT_INFO = { name: 'mcp-steward-demo', version: '1.0.0' };

/** The text of a tool's result. */
export function textOf(result: unknown): string {
  const [first] = (result as { content: { text?: string }[] }).content;
  return first?.text ?? '';
}

/** The error of an operation that must fail. */
export async function errorOf(operation: Promise<unknown>): Promise<Error> {
  const error = await operation.then(
    () => undefined,
    (reason: Error) => reason,
  );
  if (error === undefined) throw new Error('the operation succeeded, and should have failed');
  return error;
}
