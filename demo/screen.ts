/** What the demo prints. Colour only on a terminal, and not when NO_COLOR is set. */
import pc from 'picocolors';
import type { ConnectionState } from '../src/index.ts';
import type { Outcome, Scene } from './scene.ts';

const isPlain = !process.stdout.isTTY || Boolean(process.env.NO_COLOR);
const { bold, cyan, dim, green, red, yellow } = pc.createColors(!isPlain);

const WIDTH = Math.min(process.stdout.columns || 100, 110);

const COLOUR: Partial<Record<ConnectionState, (text: string) => string>> = {
  ready: green,
  lost: red,
  'failed-ownership': red,
  exhausted: red,
  recreating: yellow,
  connecting: yellow,
};

export class Screen {
  readonly #print: (line: string) => void;
  #begun = performance.now();

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  scene(number: number, { title }: Scene): void {
    this.#begun = performance.now();
    this.#print(`\n${bold(`${number}. ${title}`)}`);
  }

  line(text: string): void {
    const [first, ...rest] = wrapped(text, WIDTH - 12);
    this.#timed(first ?? '');
    for (const line of rest) this.#print(`${' '.repeat(12)}${line}`);
  }

  state(
    name: string,
    from: ConnectionState | undefined,
    to: ConnectionState,
    generation: number,
    cause?: string,
  ) {
    const colour = COLOUR[to] ?? ((text: string) => text);
    const arrow = from === undefined ? '' : `${dim(from)} → `;
    const details = [generation > 0 && `generation ${generation}`, cause].filter(Boolean).join(', ');
    this.#timed(`${cyan(name)}  ${arrow}${colour(to)}${details && dim(`  ${details}`)}`);
  }

  claim(text: string, holds: boolean): void {
    this.#timed(holds ? `${green('✓')} ${text}` : `${red('✗')} ${text}`);
  }

  summary(outcomes: readonly Outcome[], seconds: number): void {
    const row = (cells: readonly string[]) =>
      cells.map((cell, column) => (column === 0 ? cell.padEnd(16) : cell.padStart(13))).join('');
    this.#print(`\n${bold(row(['scene', 'generations', 'initializes', 'executions', 'holds']))}`);
    for (const { scene, ok, generations, initializes, executions } of outcomes) {
      const counts = row([scene, String(generations), String(initializes), String(executions)]);
      this.#print(`${counts}${ok ? green('yes'.padStart(13)) : red('no'.padStart(13))}`);
    }
    this.#print(
      dim('initializes and executions are what the servers wrote down, not what the client believes'),
    );
    const held = outcomes.filter(({ ok }) => ok).length;
    const verdict = `${held} of ${outcomes.length} scenes hold`;
    this.#print(`\n${held === outcomes.length ? green(verdict) : red(verdict)}, ${seconds.toFixed(1)} s`);
  }

  page(url: string): void {
    this.#print(`\n${bold('Now lose one by hand:')} ${cyan(url)}`);
    this.#print(
      dim('three connections, live, with buttons that kill, restart, evict, hang and refuse; Ctrl+C ends'),
    );
  }

  #timed(text: string): void {
    const seconds = ((performance.now() - this.#begun) / 1_000).toFixed(2);
    this.#print(`${dim(`${seconds.padStart(7)} s`)}   ${text}`);
  }
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length + 1 > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
