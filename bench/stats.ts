/** Medians and their spread. */

function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

export interface Summary {
  readonly median: number;
  /** First and third quartile. */
  readonly quartiles: readonly [number, number];
  /** 95 % confidence interval of the median, from order statistics: no assumption about the distribution. */
  readonly interval: readonly [number, number];
  readonly n: number;
}

export function summarise(values: readonly number[]): Summary {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  const half = (1.96 * Math.sqrt(n)) / 2;
  const low = Math.max(0, Math.floor(n / 2 - half));
  const high = Math.min(n - 1, Math.ceil(n / 2 + half));
  return {
    median: quantile(sorted, 0.5),
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
    interval: [sorted[low] as number, sorted[high] as number],
    n,
  };
}
