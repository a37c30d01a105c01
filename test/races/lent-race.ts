import {
  type CallerOwnedConnection,
  type ConnectionState,
  createSupervisor,
  type SuppliedClient,
  type SuppliedSession,
} from '../../src/index.ts';
import { CallersClient } from './callers-client.ts';
import { LIVENESS, Race } from './race.ts';
import { CLIENT_INFO } from './real-client.ts';
import type { ScheduledTransport } from './scheduled-transport.ts';
import type { Command, LentScript } from './script.ts';
import type { World } from './world.ts';

type Handle = CallerOwnedConnection<SuppliedClient | SuppliedSession>;

/** A connection that belongs to its caller. */
export class LentRace extends Race {
  protected override readonly lossShows: boolean;
  protected handle!: Handle;
  readonly #script: LentScript;
  readonly #supervisor = createSupervisor({ clientInfo: CLIENT_INFO });
  readonly #callers: CallersClient[] = [];
  /** Given to `replace`, and not taken yet. */
  #offered: CallersClient | undefined;
  #taken: CallersClient | undefined;

  constructor(script: LentScript, world: World) {
    super(script, world);
    this.#script = script;
    this.lossShows = script.supply !== 'bare session';
  }

  override async run(): Promise<void> {
    void this.#newClient();
    await this.world.run(() => this.#callers.length > 0);
    this.#taken = this.#callers[0]!;
    const { supplied } = this.#taken;
    const liveness = { ...LIVENESS, heartbeatMs: this.#script.heartbeatMs };
    this.handle =
      this.#script.supply === 'client'
        ? (this.#supervisor.adopt('raced', supplied as SuppliedClient, { liveness }) as Handle)
        : (this.#supervisor.adoptSession('raced', supplied as SuppliedSession, { liveness }) as Handle);
    this.listen();
    await super.run();
  }

  protected get current(): ScheduledTransport | undefined {
    return this.#taken?.client.transport as ScheduledTransport | undefined;
  }

  /** To the SDK, a client that was connected again has still only one transport: whichever closes is that. */
  protected get inUse(): readonly ScheduledTransport[] {
    return this.#taken?.transports ?? [];
  }

  protected mayBeLostBySilence(): boolean {
    return false;
  }

  protected closeSupervisor(): Promise<void> {
    return this.#supervisor.close();
  }

  protected doOwn(command: Command): void {
    if (command.act === 'caller closes') this.#taken?.close();
    if (command.act !== 'replace') return;
    if (command.by === 'new') {
      this.#newClient().then((caller) => this.#replace(caller), ignoreFailedConnect);
    } else {
      const caller = this.#callers.at(-1)!;
      caller.connected().then(() => this.#replace(caller), ignoreFailedConnect);
    }
  }

  /** A call on a session is given to it at once, and goes out some microtasks later: it may be lost meanwhile. */
  protected override mayBeSentOn(transport: ScheduledTransport): boolean {
    return this.#script.supply !== 'client' || super.mayBeSentOn(transport);
  }

  protected wrongAtRest(): string | undefined {
    const resent = this.calls.all.find(({ sentOn }) => sentOn.length > 1);
    if (resent !== undefined) return `${resent.key} was sent again`;
    if (this.lossShows && this.handle.state === 'ready' && this.current === undefined)
      return 'ready, and disconnected';
    const touched = this.#callers.flatMap((caller) => caller.touched);
    return touched.length > 0 ? `${touched} of the caller's called` : undefined;
  }

  protected wrongInQuiet(): string | undefined {
    for (const { key, startedIn, sentOn, outcomes } of this.calls.all) {
      if (startedIn !== 'failed-ownership') continue;
      const [outcome] = outcomes;
      const { name } = (outcome as { error?: { name?: string } }).error ?? {};
      if (name !== 'CallerOwnedConnectionLostError' || sentOn.length > 0) {
        return `${key} was made after the loss, was sent ${sentOn.length} times, and got ${name}`;
      }
    }
    return undefined;
  }

  protected wrongAfterClose(): string | undefined {
    const hooked = this.#callers.filter(({ handlersAreAsTheyWere }) => !handlersAreAsTheyWere);
    return hooked.length > 0
      ? `${hooked.length} clients were not given back as they were`
      : this.wrongAtRest();
  }

  protected entered(state: ConnectionState): void {
    if (state !== 'connecting') return;
    if (this.#offered === undefined) this.world.blame('it checks what nobody has given to it');
    this.#taken = this.#offered;
    this.#offered = undefined;
  }

  async #newClient(): Promise<CallersClient> {
    const caller = new CallersClient(this.server, this.#script.supply);
    await caller.connected();
    this.#callers.push(caller);
    return caller;
  }

  #replace(caller: CallersClient): void {
    const { handle, world } = this;
    const { state, generation } = handle;
    const isConnected = caller.client.transport !== undefined;
    this.#offered = caller;
    this.expectToSettle(handle.replace(caller.supplied as never));
    this.#offered = undefined;
    if (!isConnected || state === 'closing' || state === 'closed') return;
    if (handle.state !== 'ready' || handle.generation !== generation + 1) {
      world.blame(`replace() while ${state}, and then it was ${handle.state} at ${handle.generation}`);
    }
  }
}

function ignoreFailedConnect(): void {}
