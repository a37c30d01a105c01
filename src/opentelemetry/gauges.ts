/** What is so at the moment, read from the status of every connection when the host's reader asks. */
import type { Attributes, BatchObservableResult, Meter, Observable } from '@opentelemetry/api';
import type { TelemetryHost } from '../telemetry.ts';
import { CONNECTION, OWNERSHIP, STATE } from './attributes.ts';

/** Of all supervisors together: two callbacks that tell of the same attributes would hide each other. */
export class Gauges {
  readonly #hosts = new Set<TelemetryHost>();
  readonly #meter: Meter;
  readonly #connections: Observable;
  readonly #waiting: Observable;
  readonly #inFlight: Observable;

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#connections = meter.createObservableUpDownCounter('mcp_steward.connections', {
      unit: '{connection}',
      description: 'Connections, by state and ownership',
    });
    this.#waiting = meter.createObservableUpDownCounter('mcp_steward.operations.waiting', {
      unit: '{operation}',
      description: 'Operations that wait for their connection',
    });
    this.#inFlight = meter.createObservableUpDownCounter('mcp_steward.operations.in_flight', {
      unit: '{operation}',
      description: 'Operations that were sent and have not settled',
    });
  }

  add(host: TelemetryHost): void {
    if (this.#hosts.size === 0) this.#meter.addBatchObservableCallback(this.#observe, this.#observed);
    this.#hosts.add(host);
  }

  remove(host: TelemetryHost): void {
    this.#hosts.delete(host);
    if (this.#hosts.size === 0) this.#meter.removeBatchObservableCallback(this.#observe, this.#observed);
  }

  get #observed(): Observable[] {
    return [this.#connections, this.#waiting, this.#inFlight];
  }

  readonly #observe = (result: BatchObservableResult) => {
    const [connections, waiting, inFlight] = [new Tally(), new Tally(), new Tally()];
    for (const { status } of [...this.#hosts].flatMap((host) => [...host.connections.values()])) {
      const { connection, ownership, state } = status;
      connections.add({ [STATE]: state, [OWNERSHIP]: ownership }, 1);
      waiting.add({ [CONNECTION]: connection, [OWNERSHIP]: ownership }, status.waiting);
      inFlight.add({ [CONNECTION]: connection, [OWNERSHIP]: ownership }, status.inFlight);
    }
    connections.tell(result, this.#connections);
    waiting.tell(result, this.#waiting);
    inFlight.tell(result, this.#inFlight);
  };
}

class Tally {
  readonly #sums = new Map<string, { attributes: Attributes; sum: number }>();

  add(attributes: Attributes, value: number): void {
    const key = JSON.stringify(attributes);
    const sum = (this.#sums.get(key)?.sum ?? 0) + value;
    this.#sums.set(key, { attributes, sum });
  }

  tell(result: BatchObservableResult, observable: Observable): void {
    for (const { attributes, sum } of this.#sums.values()) result.observe(observable, sum, attributes);
  }
}
