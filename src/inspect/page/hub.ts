/** Hears every step, keeps the last of them, and tells those who look on: a snapshot first, then what changes. */
import type { ServerResponse } from 'node:http';
import { CAUSE_TEXT } from '../../cause-text.ts';
import { inspectionOf } from '../../inspection.ts';
import { quietly } from '../../quietly.ts';
import type { Supervisor } from '../../supervisor.ts';
import { type Step, steps } from '../steps.ts';
import { Connections } from './connections.ts';
import { History } from './history.ts';
import { Operations } from './operations.ts';
import { Recoveries } from './recoveries.ts';
import { Viewer } from './viewer.ts';
import type { Changes, ConnectionView, OperationView, RecoveryView, Snapshot } from './wire.ts';

const BATCH_MS = 50;
/** Lines of the log in one batch; of more, the page is told how many there were. */
const BATCH_STEPS = 200;
/** How often the numbers of operations in flight are looked at; no step tells them. */
const SAMPLE_MS = 250;
/** So that a page can tell a host that has nothing to say from one that hangs. */
const ALIVE_MS = 2_000;

export class Hub {
  readonly #connections: Connections;
  readonly #history = new History();
  readonly #operations = new Operations();
  readonly #recoveries: Recoveries;
  readonly #controls: Snapshot['controls'];
  readonly #viewers = new Set<Viewer>();
  readonly #stopListening: () => void;
  /** Each connection as the viewers know it. */
  readonly #told = new Map<string, string>();
  #toldSteps = 0;
  #changedConnections = new Set<string>();
  #changedOperations = new Map<string, OperationView>();
  #changedRecoveries = new Map<number, RecoveryView>();
  #gone: string[] = [];
  #batch: NodeJS.Timeout | undefined;
  #sampling: readonly NodeJS.Timeout[] = [];

  constructor(supervisor: Supervisor, controls: Snapshot['controls']) {
    this.#connections = new Connections(supervisor);
    this.#recoveries = new Recoveries(supervisor);
    this.#controls = controls;
    this.#stopListening = inspectionOf(supervisor).add(steps((step) => this.#take(step)));
  }

  join(response: ServerResponse): void {
    // So that all viewers know the same, and are told the same from here on.
    this.#sample();
    this.#told.clear();
    const snapshot = JSON.stringify(this.#snapshot());
    const viewer = new Viewer(response, snapshot, () => this.#left(viewer));
    this.#viewers.add(viewer);
    if (this.#viewers.size === 1) this.#startSampling();
  }

  close(): void {
    this.#stopListening();
    for (const viewer of this.#viewers) viewer.leave();
  }

  #left(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size > 0) return;
    for (const timer of this.#sampling) clearInterval(timer);
    clearTimeout(this.#batch);
    this.#batch = undefined;
    this.#forgetChanges();
  }

  #take(step: Step): void {
    this.#history.add(step);
    const gone = this.#connections.take(step);
    const operation = this.#operations.take(step);
    const recovery = this.#recoveries.take(step);
    if (this.#viewers.size === 0) return;
    this.#gone.push(...gone);
    this.#changedConnections.add(step.connection);
    if (operation !== undefined) this.#changedOperations.set(operation.id, operation);
    if (recovery !== undefined) this.#changedRecoveries.set(recovery.id, recovery);
    this.#batch ??= setTimeout(() => quietly(() => this.#flush()), BATCH_MS).unref();
  }

  #startSampling(): void {
    const sample = setInterval(() => quietly(() => this.#sample()), SAMPLE_MS);
    const alive = setInterval(() => this.#tell('alive', '{}'), ALIVE_MS);
    this.#sampling = [sample.unref(), alive.unref()];
  }

  #sample(): void {
    this.#gone.push(...this.#connections.prune(Date.now()));
    for (const name of this.#connections.names) this.#changedConnections.add(name);
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#batch);
    this.#batch = undefined;
    const changes: Changes = {
      connections: [...this.#changedConnections].flatMap((name) => this.#news(name)),
      operations: [...this.#changedOperations.values()],
      recoveries: [...this.#changedRecoveries.values()],
      steps: this.#history.since(this.#toldSteps, BATCH_STEPS),
      gone: this.#gone,
    };
    this.#forgetChanges();
    if (Object.values(changes).some((changed) => changed.length > 0)) {
      this.#tell('changes', JSON.stringify(changes));
    }
  }

  /** The connection, if it is not as the viewers know it. */
  #news(name: string): ConnectionView[] {
    const view = this.#connections.view(name);
    const text = JSON.stringify(view);
    if (view === undefined || this.#told.get(name) === text) return [];
    this.#told.set(name, text);
    return [view];
  }

  #forgetChanges(): void {
    for (const name of this.#gone) this.#told.delete(name);
    this.#toldSteps = this.#history.count;
    this.#changedConnections = new Set();
    this.#changedOperations = new Map();
    this.#changedRecoveries = new Map();
    this.#gone = [];
  }

  #tell(event: 'changes' | 'alive', data: string): void {
    for (const viewer of this.#viewers) viewer.send(event, data);
  }

  #snapshot(): Snapshot {
    return {
      connections: [...this.#connections.names].flatMap((name) => this.#news(name)),
      operations: this.#operations.all,
      recoveries: this.#recoveries.all,
      steps: this.#history.since(0),
      gone: [],
      controls: this.#controls,
      causes: CAUSE_TEXT,
    };
  }
}
