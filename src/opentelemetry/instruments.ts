/**
 * What is counted and measured as it happens. Also what is so at the moment: what a callback told once, and tells no
 * more, the SDK goes on exporting, so that a connection would stay in each state that it was ever in.
 */
import type { Counter, Histogram, Meter, UpDownCounter } from '@opentelemetry/api';

/** The conventions' own, in seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

export interface Instruments {
  readonly operationDuration: Histogram;
  readonly connections: UpDownCounter;
  readonly waiting: UpDownCounter;
  readonly inFlight: UpDownCounter;
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
    connections: meter.createUpDownCounter('mcp_steward.connections', {
      unit: '{connection}',
      description: 'Connections that are not closed, by state and ownership',
    }),
    waiting: meter.createUpDownCounter('mcp_steward.operations.waiting', {
      unit: '{operation}',
      description: 'Operations that wait for their connection',
    }),
    inFlight: meter.createUpDownCounter('mcp_steward.operations.in_flight', {
      unit: '{operation}',
      description: 'Operations that were sent and have not settled',
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
      description: 'Operations that the server may have run, and that were given up without an answer',
    }),
  };
}

export function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000;
}
