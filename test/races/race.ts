import type { ConnectionHandle, ConnectionState } from '../../src/index.ts';
import { RaceCalls, wrongAtRest, wrongAtTheEnd } from './calls.ts';
import { CountingServer } from './counting-server.ts';
import type { ScheduledTransport } from './scheduled-transport.ts';
import type { Command, CommonScript } from './script.ts';
import { type Said, watch } from './watch.ts';
import type { World } from './world.ts';

/** Longer than anything that a supervisor still does by itself once nobody wants anything of it. */
const QUIET_MS = 1_000;

/** Short, so that silence is a loss within a race. */
export const LIVENESS = { probeTimeoutMs: 40, missedProbes: 2, silenceMs: 60, busySilenceMs: 120 };

/** In these, nobody waits for the connection. */
const SETTLED: readonly ConnectionState[] = ['exhausted', 'failed-ownership', 'closing', 'closed'];

/** What a race over an owned connection and one over a caller-owned connection have in common. */
export abstract class Race {
  readonly calls = new RaceCalls();
  protected readonly world: World;
  protected readonly server: CountingServer;
  protected said!: Said;
  protected closing = false;
  /** A bare session does not show its transport, so nobody can tell when it closes. */
  protected readonly lossShows: boolean = true;
  /** Promises that are no call's, and have not settled. */
  #pending = 0;
  readonly #commands: readonly Command[];

  constructor(script: CommonScript, world: World) {
    this.world = world;
    this.server = new CountingServer(script, this.calls, world.letGo);
    this.server.onSend = (transport) => {
      if (!this.mayBeSentOn(transport)) world.blame(`a call on ${transport.name} while ${this.handle.state}`);
    };
    this.#commands = script.commands;
  }

  protected abstract readonly handle: ConnectionHandle;
  /** The transport of the generation that is, or was last, current, as far as that is known from outside. */
  protected abstract readonly current: ScheduledTransport | undefined;
  /** All that closes what is current, if it closes. */
  protected abstract readonly inUse: readonly ScheduledTransport[];
  protected abstract doOwn(command: Command): void;
  protected abstract entered(to: ConnectionState, from: ConnectionState): void;
  protected abstract wrongAtRest(): string | undefined;
  protected abstract wrongInQuiet(): string | undefined;
  protected abstract wrongAfterClose(): string | undefined;
  protected abstract closeSupervisor(): Promise<void>;

  async run(): Promise<void> {
    const { world, handle } = this;
    world.atRest = () => this.#wrongCall(wrongAtRest) ?? this.#wrongWithWaiting() ?? this.wrongAtRest();
    world.begin(this.#commands.map((command) => ({ label: labelOf(command), run: () => this.#do(command) })));
    await world.run(() => this.calls.unsettled.length === 0 && this.#pending === 0);
    await world.runFor(QUIET_MS);
    world.blame(this.#wrongAtTheEnd() ?? this.wrongInQuiet());

    this.close(() => this.closeSupervisor());
    await world.run(() => handle.state === 'closed' && this.#pending === 0);
    if (world.timers > 0) world.blame(`${world.timers} timers are left after close()`);
    await world.runFor(QUIET_MS);
    world.blame(this.#wrongAtTheEnd() ?? this.wrongAfterClose());
    if (world.timers > 0) world.blame(`${world.timers} timers are left`);
    await world.run(() => true);
  }

  /** As soon as there is a handle. */
  protected listen(): void {
    this.said = watch(this.handle, this.world.blame, (to, from) => {
      if (to === 'lost' && this.#isWell) this.world.blame('lost, and nothing is the matter');
      this.entered(to, from);
    });
  }

  /** A late report of something older must not add to it. */
  protected get happened(): string {
    return `${this.handle.state}, ${this.said.transitions} transitions, ${this.server.pings} pings`;
  }

  protected expectToSettle(promise: Promise<unknown>): void {
    this.#pending++;
    const settled = () => void this.#pending--;
    promise.then(settled, settled);
  }

  protected close(close: () => Promise<void>): void {
    this.closing = true;
    const closed = close().then(() => {
      const { state } = this.handle;
      if (state !== 'closed') this.world.blame(`close() is over, and it is ${state}`);
    });
    this.expectToSettle(closed);
  }

  protected abstract mayBeLostBySilence(transport: ScheduledTransport): boolean;

  protected mayBeSentOn(transport: ScheduledTransport): boolean {
    return this.handle.state === 'ready' && transport === this.current;
  }

  /** Neither current nor on its way to be. */
  protected isOlder(transport: ScheduledTransport): boolean {
    return this.handle.state !== 'ready' || !this.inUse.includes(transport);
  }

  #do(command: Command): void {
    const { world, server, calls, handle } = this;
    switch (command.act) {
      case 'call':
        calls.begin(command, handle.state, (params, options) =>
          handle.callTool(params as { name: string }, undefined, options),
        );
        break;
      case 'abort':
        pick(calls.all, command.which)?.controller.abort(new Error('of the caller'));
        break;
      case 'forget':
        server.forget();
        break;
      case 'hang up':
        for (const transport of server.transports.slice(-1)) server.hangUp(transport);
        break;
      case 'late':
        this.#late(command.what, command.which);
        break;
      case 'time':
        // A timer fires when all microtasks have run.
        world.alone(() => world.passTime());
        break;
      case 'close':
        this.close(() => handle.close());
        break;
      default:
        this.doOwn(command);
    }
  }

  #late(what: 'close' | 'error' | 'answer', which: number): void {
    const { server, world } = this;
    let before: string | undefined;
    const transport = pick(server.transports, which);
    const callback = () => {
      if (what === 'answer') pick(server.owed, which)?.();
      else if (what === 'error')
        transport?.onerror?.(new Error('Maximum reconnection attempts (2) exceeded.'));
      else if (transport?.closed) transport.onclose?.();
      else if (transport !== undefined) server.hangUp(transport);
    };
    world.alone(
      () => {
        before = this.#mayChange(what, which) ? undefined : this.happened;
        callback();
      },
      () => {
        if (before === undefined || before === this.happened) return;
        world.blame(`a late ${what} changed something: ${before}, then ${this.happened}`);
      },
    );
  }

  #mayChange(what: string, which: number): boolean {
    // It may be what the close waits for.
    if (this.handle.state === 'closing') return true;
    const transport = pick(this.server.transports, which);
    if (what === 'answer' || transport === undefined) return false;
    // A dial may wait for the end of what was before it, also of a dial that was given up.
    const isDialled = this.handle.state === 'connecting' || this.handle.state === 'recreating';
    if (what === 'close' && !transport.closed && isDialled) return true;
    // A call that it strikes may want the connection.
    return transport.isBusy || !this.isOlder(transport);
  }

  /** Nobody can have a reason to think that the current generation is lost. */
  get #isWell(): boolean {
    return this.inUse.every(
      (transport) => transport.isWell && this.server.knows(transport) && !this.mayBeLostBySilence(transport),
    );
  }

  #wrongWithWaiting(): string | undefined {
    const { state, waiting } = this.handle.status;
    const isProbed = this.inUse.some((transport) => transport.isProbed);
    const isDecided = SETTLED.includes(state) || (state === 'ready' && this.#isWell && !isProbed);
    return waiting > 0 && isDecided ? `${waiting} wait while ${state}` : undefined;
  }

  #wrongCall(rule: (call: RaceCalls['all'][number]) => string | undefined): string | undefined {
    for (const call of this.calls.all) {
      const wrong = rule(call);
      if (wrong !== undefined) return `${call.key} ${wrong}`;
    }
    return undefined;
  }

  #wrongAtTheEnd(): string | undefined {
    const wrong = this.#wrongCall((call) => wrongAtTheEnd(call, this.lossShows));
    if (wrong !== undefined) return wrong;
    const { inFlight, waiting } = this.handle.status;
    if (this.#pending > 0) return `${this.#pending} promises never settled`;
    return inFlight + waiting === 0 ? undefined : `${inFlight} are in flight, and ${waiting} wait`;
  }
}

function pick<T>(all: readonly T[], which: number): T | undefined {
  return all[which % Math.max(1, all.length)];
}

function labelOf(command: Command): string {
  return command.act === 'call' ? `a call that is ${command.policy}` : Object.values(command).join(' ');
}
