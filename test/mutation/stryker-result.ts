/** Reads the report that Stryker left behind (`jsonReporter` in stryker.config.mjs). */
import { readFileSync } from 'node:fs';

const REPORT = 'coverage/mutation/stryker.json';

/** A mutant that no test noticed. */
export interface Survivor {
  readonly file: string;
  readonly line: number;
  /** What was changed, and into what, on one line: it stays the same when lines move. */
  readonly mutant: string;
}

export interface StrykerResult {
  /** Noticed: a test failed, or never ended. */
  readonly killed: number;
  /** Without those that were ignored for a reason, or could not run. */
  readonly total: number;
  readonly survivors: readonly Survivor[];
}

interface Place {
  readonly line: number;
  readonly column: number;
}

/** The parts of a mutation-testing-report-schema that are read here. */
interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly location: { readonly start: Place; readonly end: Place };
  readonly status: string;
}

const KILLED: readonly string[] = ['Killed', 'Timeout'];
const SURVIVED: readonly string[] = ['Survived', 'NoCoverage'];

export function strykerResult(): StrykerResult {
  const { files } = JSON.parse(readFileSync(REPORT, 'utf8')) as Report;
  let killed = 0;
  const survivors: Survivor[] = [];
  for (const [file, { source, mutants }] of Object.entries(files)) {
    for (const mutant of mutants) {
      if (KILLED.includes(mutant.status)) killed++;
      if (!SURVIVED.includes(mutant.status)) continue;
      survivors.push({ file, line: mutant.location.start.line, mutant: described(mutant, source) });
    }
  }
  return { killed, total: killed + survivors.length, survivors };
}

/** `EqualityOperator: a < b → a <= b` */
function described(
  { mutatorName, replacement = '', location: { start, end } }: Mutant,
  source: string,
): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  // The end first: on one line, cutting the start would move it.
  lines.push(lines.pop()!.slice(0, end.column - 1));
  lines.unshift(lines.shift()!.slice(start.column - 1));
  return onOneLine(`${mutatorName}: ${lines.join('\n')} → ${replacement}`);
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
