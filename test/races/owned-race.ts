import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  type Connect,
  type ConnectContext,
  type ConnectionState,
  createSupervisor,
  type OwnedConnection,
} from '../../src/index.ts';
import { DELETE_LIMIT_MS } from '../../src/retirement.ts';
import { Budget } from './budget.ts';
import { OF_THE_TOOL } from './calls.ts';
import { cutBy } from './counting-server.ts';
import { LIVENESS, Race } from './race.ts';
import { CLIENT_INFO, realClient } from './real-client.ts';
import type { ScheduledTransport } from './scheduled-transport.ts';
import type { Command, DialFate, OwnedScript } from './script.ts';
import type { World } from './world.ts';

const RECOVERY = { windowMs: 150, stableMs: 150, coolDownMs: 120, initialBackoffMs: 20, maxBackoffMs: 60 };

const TIMEOUTS = { connectTimeoutMs: 80, drainTimeoutMs: 50, closeTimeoutMs: 50 };
/** Its calls, its DELETE and its close, as long as they may take. */
const RETIREMENT_MS = TIMEOUTS.drainTimeoutMs + DELETE_LIMIT_MS + TIMEOUTS.closeTimeoutMs;

interface Dial {
  readonly generation: number;
  readonly signal: AbortSignal;
  readonly transport: ScheduledTransport;
  readonly startedAt: number;
  /** The second of one attempt: the first was turned away, so what may stand in its way was ended. */
  readonly isSecond: boolean;
  /** `connect` has had its outcome. */
  over: boolean;
  /** It has returned a client. */
  returned: boolean;
  /** Its client has become current. */
  taken: boolean;
  sessionId: string | undefined;
  /** Of its client, by the supervisor. */
  closes: number;
  /** When it stopped to take new calls. */
  retiredAt: number;
}

/** An owned connection, whose `connect` makes real SDK clients. */
export class OwnedRace extends Race {
  protected readonly handle: OwnedConnection;
  protected readonly closeSupervisor: () => Promise<void>;
  readonly #script: OwnedScript;
  readonly #dialFates: DialFate[];
  readonly #dials: Dial[] = [];
  readonly #budget: Budget;

  constructor(script: OwnedScript, world: World) {
    super(script, world);
    this.#script = script;
    this.#dialFates = [...script.dials];
    const { recreate, maxAttempts, waitForReady, lazy, heartbeatMs } = script;
    const recovery = { ...RECOVERY, recreate, maxAttempts, waitForReady };
    this.#budget = new Budget(recovery);
    const supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
    this.closeSupervisor = () => supervisor.close();
    this.handle = supervisor.own('raced', {
      connect: this.#connect as unknown as Connect,
      recovery,
      lazy,
      replay: { tools: { safe: 'safe', never: 'never' } },
      timeouts: TIMEOUTS,
      liveness: { ...LIVENESS, heartbeatMs },
    });
    this.listen();
  }

  override async run(): Promise<void> {
    if (this.#script.settled) {
      if (this.#script.lazy) this.#reconnect();
      await this.world.run(() => true);
    }
    await super.run();
  }

  protected get current(): ScheduledTransport | undefined {
    return this.#dialOfCurrent?.transport;
  }

  protected get inUse(): readonly ScheduledTransport[] {
    return this.current === undefined ? [] : [this.current];
  }

  protected override get happened(): string {
    return `${super.happened}, ${this.#dials.length} dials`;
  }

  protected mayBeLostBySilence({ missedPings }: ScheduledTransport): boolean {
    return missedPings >= LIVENESS.missedProbes;
  }

  protected doOwn({ act }: Command): void {
    if (act !== 'reconnect') return;
    this.#budget.reconnects();
    this.#reconnect();
  }

  protected override isOlder(transport: ScheduledTransport): boolean {
    const dial = this.#dials.find((candidate) => candidate.transport === transport);
    return super.isOlder(transport) && dial !== undefined && (dial.over || dial.signal.aborted);
  }

  protected entered(to: ConnectionState, from: ConnectionState): void {
    const dial = this.#dialOfCurrent;
    if (from === 'ready' && dial !== undefined) dial.retiredAt = Date.now();
    this.world.blame(this.#budget.left(from) ?? this.#wrongWhenEntering(to));
  }

  protected wrongAtRest(): string | undefined {
    const open = this.#dials.filter(({ over, signal }) => !over && !signal.aborted);
    if (open.length > 1) return `${open.length} dials are under way`;
    const isLong = open.some(({ startedAt }) => Date.now() - startedAt > TIMEOUTS.connectTimeoutMs);
    if (isLong) return 'a dial takes too long';
    if (this.handle.state === 'ready' && this.current?.closed) return 'ready, and its transport has closed';
    if (this.closing && open.length > 0) return 'a dial is under way after close()';
    return undefined;
  }

  protected wrongInQuiet(): string | undefined {
    const recreated = this.said.recreated.length;
    const expected = Math.max(0, this.handle.generation - 1);
    if (recreated !== expected) return `"recreated" said ${recreated} times, not ${expected}`;
    const kept = this.handle.state === 'ready' ? this.#dialOfCurrent : undefined;
    return this.#wrongWithClients(kept);
  }

  protected wrongAfterClose(): string | undefined {
    for (const { sessionId } of this.#dials) {
      const wrong = sessionId === undefined ? undefined : this.server.wrongWithEnded(sessionId);
      if (wrong !== undefined) return wrong;
    }
    return this.#wrongWithClients(undefined);
  }

  #reconnect(): void {
    const { handle, world } = this;
    const { generation } = handle;
    const reconnected = handle.reconnect().then(
      () => {
        if (handle.generation === generation) world.blame('reconnect() is over, and nothing is new');
      },
      ({ name }: Error) => {
        const may = ['ConnectionUnavailableError', 'ConnectionClosedError'].includes(name);
        if (!may) world.blame(`reconnect() failed with ${name}`);
      },
    );
    this.expectToSettle(reconnected);
  }

  /** Of those that `connect` has returned for this generation, the last is the one that was taken. */
  get #dialOfCurrent(): Dial | undefined {
    const { generation } = this.handle;
    return this.#dials.findLast((dial) => dial.returned && dial.generation === generation);
  }

  #wrongWithClients(kept: Dial | undefined): string | undefined {
    for (const dial of this.#dials.filter(({ returned }) => returned)) {
      const { closes, transport, taken, retiredAt } = dial;
      // A heartbeat may have lost it just now.
      if (Date.now() - retiredAt < RETIREMENT_MS) continue;
      // One that had lost its connection before it could be taken needs no close.
      const atLeast = dial === kept || !taken ? 0 : 1;
      if (closes < atLeast || closes > (dial === kept ? 0 : 1))
        return `the client of ${transport.name} was closed ${closes} times`;
      if (dial !== kept && !transport.closed) return `${transport.name} was left open`;
    }
    return undefined;
  }

  #wrongWhenEntering(state: ConnectionState): string | undefined {
    if (state !== 'ready') return undefined;
    const dial = this.#dialOfCurrent;
    if (dial === undefined) return `ready, and connect has returned no generation ${this.handle.generation}`;
    if (!dial.transport.initialized) return 'ready before the end of the handshake';
    dial.taken = true;
    return dial.signal.aborted ? 'ready with the client of an aborted dial' : undefined;
  }

  readonly #connect = async ({ generation, signal }: ConnectContext): Promise<Client> => {
    const transport = this.server.transport();
    const before = this.#dials.at(-1);
    const isSecond = before?.transport.turnedAway === true && !before.isSecond && this.server.kind === 'http';
    const dial: Dial = {
      generation,
      signal,
      transport,
      startedAt: Date.now(),
      isSecond: isSecond && before.generation === generation,
      over: false,
      returned: false,
      taken: false,
      sessionId: undefined,
      closes: 0,
      retiredAt: 0,
    };
    this.#dials.push(dial);
    if (this.closing) this.world.blame('a dial after close()');
    if (!dial.isSecond) this.world.blame(this.#budget.dialled());
    try {
      return await this.#dial(dial, this.#dialFates.shift() ?? 'connects');
    } finally {
      dial.over = true;
    }
  };

  async #dial(dial: Dial, fate: DialFate): Promise<Client> {
    const { signal, transport } = dial;
    if (fate === 'hangs' || fate === 'comes-too-late') await aborted(signal);
    if (fate === 'hangs' || fate === 'refused' || fate === 'denied') {
      await this.world.letGo(`${transport.name}: ${fate}`);
      signal.throwIfAborted();
      throw fate === 'denied'
        ? new StreamableHTTPError(401, 'Error POSTing to endpoint: ')
        : cutBy('ECONNREFUSED', 'connect');
    }
    const client = realClient();
    await client.connect(transport);
    dial.returned = true;
    dial.sessionId = transport.sessionId;
    const close = client.close.bind(client);
    client.close = () => {
      dial.closes++;
      const isInTime = Date.now() - dial.retiredAt < TIMEOUTS.drainTimeoutMs;
      if (isInTime && transport.isBusy) this.world.blame('closed under a call');
      return close();
    };
    const callTool = client.callTool.bind(client);
    client.callTool = (params, ...rest) => {
      this.calls.withKey(params.arguments!.key as string).attempts++;
      const answer = callTool(params, ...rest);
      answer.then(
        () => this.#budget.answered(),
        ({ code }) => code === OF_THE_TOOL && this.#budget.answered(),
      );
      return answer;
    };
    if (fate === 'stillborn') void this.#soon(() => this.server.hangUp(transport));
    if (fate === 'unwanted') void this.#soon(() => this.close(() => this.handle.close()));
    return client;
  }

  async #soon(act: () => void): Promise<void> {
    for (let microtask = 0; microtask < this.#script.microtasks; microtask++) await undefined;
    act();
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
