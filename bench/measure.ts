import type { Summary } from './stats.ts';

/** What a figure is called, and what it may be at most. */
export interface Limit {
  readonly name: string;
  readonly limit: number;
  /** What `ratio` is a ratio of, or its unit where it is not one. */
  readonly unit: string;
}

export interface Figure extends Limit {
  readonly ratio: number;
  /** For people: the spread, the times behind the ratio, what the server counted. */
  readonly detail: string;
}

/** A figure that cannot be measured on this machine. */
export interface Skipped extends Limit {
  /** Why, and what is needed. */
  readonly skipped: string;
}

/** Figures that one set-up yields. */
export type Measure = () => Promise<readonly (Figure | Skipped)[]>;

export function spread({ interval: [low, high], n }: Summary): string {
  return `95 % ${low.toFixed(3)}–${high.toFixed(3)}, ${n} rounds`;
}

export function time(ms: number): string {
  return ms < 1 ? `${(ms * 1_000).toFixed(1)} µs` : `${ms.toFixed(2)} ms`;
}
