/** What is counted and measured as it happens. */
import type { Counter, Histogram, Meter } from '@opentelemetry/api';

/** The conventions' own, in seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

export interface Instruments {
  readonly operationDuration: Histogram;
  readonly losses: Counter;
  readonly recreations: Counter;
  readonly recoveryDuration: Histogram;
  readonly replays: Counter;
  readonly unknownOutcomes: Counter;
}

export function createInstruments(meter: Meter): Instruments {
  const seconds = { unit: 's', advice: { explicitBucketBoundaries: BUCKETS } };
  return {
    operationDuration: meter.createHistogram('mcp.client.operation.duration', {
      ...seconds,
      description: 'From the call to its result or error, waiting and every send included',
    }),
    losses: meter.createCounter('mcp_steward.losses', {
      unit: '{loss}',
      description: 'Generations that were lost',
    }),
    recreations: meter.createCounter('mcp_steward.recreations', {
      unit: '{recreation}',
      description: 'Recreations that have ended, by how',
    }),
    recoveryDuration: meter.createHistogram('mcp_steward.recovery.duration', {
      ...seconds,
      description: 'From a loss until the connection was ready again',
    }),
    replays: meter.createCounter('mcp_steward.replays', {
      unit: '{operation}',
      description: 'Operations that were sent again',
    }),
    unknownOutcomes: meter.createCounter('mcp_steward.unknown_outcomes', {
      unit: '{operation}',
      description: 'Operations that the server may have run, and that were not sent again',
    }),
  };
}

export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}
