import type { Summary } from './stats.ts';

/** One figure, and what it may be at most. */
export interface Figure {
  readonly name: string;
  readonly ratio: number;
  readonly limit: number;
  /** What `ratio` is a ratio of, or its unit where it is not one. */
  readonly unit: string;
  /** For people: the spread, the times behind the ratio, what the server counted. */
  readonly detail: string;
}

/** Figures that one set-up yields. */
export type Measure = () => Promise<Figure[]>;

export function spread({ interval: [low, high], n }: Summary): string {
  return `95 % ${low.toFixed(3)}–${high.toFixed(3)}, ${n} rounds`;
}

export function time(ms: number): string {
  return ms < 1 ? `${(ms * 1_000).toFixed(1)} µs` : `${ms.toFixed(2)} ms`;
}
