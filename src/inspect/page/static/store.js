// @ts-check
/** What the page knows and what its reader has chosen. Each change says which sections must be drawn again. */

/** @typedef {import('../wire.ts').ConnectionView} ConnectionView */
/** @typedef {import('../wire.ts').OperationView} OperationView */
/** @typedef {import('../wire.ts').RecoveryView} RecoveryView */
/** @typedef {import('../wire.ts').StepView} StepView */
/** @typedef {'stream' | 'connections' | 'detail' | 'operations' | 'recoveries' | 'log'} Section */
/** @typedef {'live' | 'connecting' | 'lost' | 'refused'} StreamState */

/** So that a reload shows the same connection. */
const CHOSEN = 'chosen';
const KEPT = { operations: 50, recoveries: 100, steps: 1_000 };

export class Store {
  /** @type {Map<string, ConnectionView>} */
  connections = new Map();
  /** @type {Map<string, OperationView>} */
  operations = new Map();
  /** @type {Map<number, RecoveryView>} */
  recoveries = new Map();
  /** The oldest first. @type {StepView[]} */
  steps = [];
  /** Steps that were too many to be sent. */
  leftOut = 0;
  /** @type {import('../wire.ts').Snapshot['controls']} */
  controls = [];
  /** @type {Partial<Record<string, string>>} */
  causes = {};

  /** @type {{ state: StreamState, since: number, heardAt: number }} */
  stream = { state: 'connecting', since: Date.now(), heardAt: Date.now() };

  /** The chosen connection. @type {string | undefined} */
  chosen = sessionStorage.getItem(CHOSEN) ?? undefined;
  /** The operation whose chart is shown, if it is not the connection's. @type {string | undefined} */
  operation = undefined;
  list = { search: '', state: '' };
  log = { search: '', connection: '', transitions: true, operations: true, ignored: false };
  /** The steps as they were when the reader paused. @type {StepView[] | undefined} */
  paused = undefined;
  /** How the control that was used last went. @type {{ connection: string, text: string } | undefined} */
  control = undefined;

  /** @type {Set<Section>} */
  #touched = new Set();
  /** @type {(sections: ReadonlySet<Section>) => void} */
  #draw;

  /** @param {(sections: ReadonlySet<Section>) => void} draw */
  constructor(draw) {
    this.#draw = draw;
  }

  /** At most one drawing in a frame, however much has happened. @param {Section[]} sections */
  touch(...sections) {
    if (this.#touched.size === 0) requestAnimationFrame(() => this.drawNow());
    for (const section of sections) this.#touched.add(section);
  }

  drawNow() {
    const touched = this.#touched;
    this.#touched = new Set();
    this.#draw(touched);
  }

  /** All that was known may be out of date. @param {import('../wire.ts').Snapshot} snapshot */
  begin(snapshot) {
    this.connections.clear();
    this.operations.clear();
    this.recoveries.clear();
    this.steps = [];
    this.controls = snapshot.controls;
    this.causes = snapshot.causes;
    if (!snapshot.connections.some(({ connection }) => connection === this.chosen)) {
      this.chosen = undefined;
      this.operation = undefined;
    }
    this.take(snapshot);
    // Of what was before, as much is told as is kept.
    this.leftOut = 0;
    this.touch('connections', 'detail', 'operations', 'recoveries', 'log');
  }

  /** @param {import('../wire.ts').Changes} changes */
  take({ connections, operations, recoveries, steps, gone }) {
    // First: a name that has gone may have been taken again.
    for (const name of gone) this.connections.delete(name);
    for (const each of connections) this.connections.set(each.connection, each);
    for (const each of operations) {
      // Those that have ended are kept in the order in which they did.
      if (each.endedAt !== undefined) this.operations.delete(each.id);
      this.operations.set(each.id, each);
    }
    for (const each of recoveries) {
      if (each.outcome !== undefined) this.recoveries.delete(each.id);
      this.recoveries.set(each.id, each);
    }
    const [first] = steps;
    if (first !== undefined) this.leftOut += first.n - (this.steps.at(-1)?.n ?? 0) - 1;
    this.steps.push(...steps);
    this.#forgetOld();
    if (this.chosen === undefined) this.chosen = this.connections.keys().next().value;
    if (connections.length + gone.length > 0) this.touch('connections', 'detail');
    if (operations.length > 0) this.touch('operations', 'detail');
    if (recoveries.length > 0) this.touch('recoveries');
    if (steps.length > 0) this.touch('log');
  }

  /** @param {string} name */
  choose(name) {
    this.chosen = name;
    this.operation = undefined;
    sessionStorage.setItem(CHOSEN, name);
    this.touch('connections', 'detail', 'operations');
  }

  /** @param {OperationView | undefined} operation */
  showOperation(operation) {
    if (operation !== undefined) this.choose(operation.connection);
    this.operation = operation?.id;
    this.touch('detail', 'operations');
  }

  /** @param {StreamState} state */
  streamIs(state) {
    if (this.stream.state !== state) this.stream = { ...this.stream, state, since: Date.now() };
    this.touch('stream');
  }

  heard() {
    this.stream.heardAt = Date.now();
    if (this.stream.state !== 'live') this.streamIs('live');
  }

  #forgetOld() {
    if (this.steps.length > KEPT.steps) this.steps = this.steps.slice(-KEPT.steps);
    const ended = [...this.operations.values()].filter(({ endedAt }) => endedAt !== undefined);
    for (const { id } of ended.slice(0, -KEPT.operations)) this.operations.delete(id);
    const over = [...this.recoveries.values()].filter(({ outcome }) => outcome !== undefined);
    for (const { id } of over.slice(0, -KEPT.recoveries)) this.recoveries.delete(id);
  }
}
