import type { Ownership } from '../../machines/vocabulary.ts';
import type { ConnectionStatus } from '../status.ts';
import { DURATIONS, type Embed } from './embedding.ts';
import { poll } from './fault-poll.ts';
import type { FaultTransport } from './fault-reactions.ts';
import { FaultServer } from './fault-server.ts';
import type { RouteData, RouteStep, ServerSees } from './route.ts';
import { MAKE_IT_HAPPEN } from './route-events.ts';
import { RouteWalk, type Seen } from './route-walk.ts';

/** While a connection is in these, its status says since when it is suspect. */
const SUSPECT: readonly string[] = ['ready.probing', 'ready.suspect'];

/** How long a step's consequences are waited for. */
const LIMIT_MS = 15_000;

/** The host did not do what the route demands. The message says at which step, what was expected and what was seen. */
export class RouteError extends Error {
  override readonly name = 'RouteError';
}

/** One way from one rest of a connection to the next, that can be walked on a host. */
export class RecoveryRoute {
  readonly #data: RouteData;

  constructor(data: RouteData) {
    this.#data = data;
  }

  get ownership(): Ownership {
    return this.#data.ownership;
  }

  get transport(): FaultTransport {
    return this.#data.transport;
  }

  /** The steps, and before them in brackets what only leads to the beginning. Unique among its kind. */
  get name(): string {
    const { given, recreate, lazy, steps } = this.#data;
    const events = steps.map(({ event }) => event);
    const settings = [recreate === 'eager' ? 'eager' : [], lazy ? 'lazy' : []].flat();
    const beginning = [...settings, ...events.slice(1, given)].join(' > ');
    return `${beginning === '' ? '' : `(${beginning}) `}${events.slice(given).join(' > ')}`;
  }

  /** What must come of each event. */
  get steps(): readonly RouteStep[] {
    return this.#data.steps;
  }

  /**
   * Makes the host's wrapper with `embed`, makes every event of the route happen on a real server, and after each
   * compares what the handle says, what the callers get and what the server counts with what must be. Closes it all.
   *
   * @param options.server to use one server for many routes, one after another. Default: one of its own
   * @throws {RouteError} (as a rejection) at the first difference
   */
  async run(embed: Embed, options: { readonly server?: FaultServer | undefined } = {}): Promise<void> {
    if (options.server !== undefined) return this.#walk(embed, options.server);
    await using server = await FaultServer.start({ transport: this.transport });
    await this.#walk(embed, server);
  }

  async #walk(embed: Embed, server: FaultServer): Promise<void> {
    const { steps, end } = this.#data;
    const walk = new RouteWalk(this.#data, server);
    const expected = new Expectation();
    try {
      await this.#prepare(server, 0);
      await walk.begin(embed);
      for (const [index, step] of steps.entries()) {
        await MAKE_IT_HAPPEN[step.event](walk);
        expected.add(step);
        // Nothing can be looked at between a dial and its end where there is no process that could hold it.
        if (server.transport === 'stdio' && steps[index + 1]?.event === 'open failed for good') continue;
        await this.#compare(`step ${index}, ${step.event}`, expected, walk, step);
        await this.#prepare(server, index + 1);
      }
      await walk.close();
      expected.end(end);
      await this.#compare('the end', expected, walk);
      await server.when('ping', 'answer');
      await this.#checkTheCallers(walk);
    } finally {
      await walk.cleanUp();
    }
  }

  /** Every dial is held by the server until the next event says what becomes of it. */
  async #prepare(server: FaultServer, index: number): Promise<void> {
    if (this.ownership !== 'supervisor') return;
    const dialFails = this.#data.steps[index + 1]?.event === 'open failed for good';
    await server.when('initialize', server.transport === 'stdio' && dialFails ? 'forbid' : 'hold');
    await server.when('tools/call', 'answer');
  }

  async #compare(where: string, expected: Expectation, walk: RouteWalk, step?: RouteStep): Promise<void> {
    let difference: string | undefined;
    await poll(() => {
      const { seen } = walk;
      difference = expected.difference(seen, walk.connection.status, step) ?? withoutBackoff(walk, step);
      return difference === undefined || expected.isPast(seen) || undefined;
    }, LIMIT_MS);
    if (difference !== undefined) throw new RouteError(`${this.name}\nat ${where}: ${difference}`);
  }

  /** What the caller owns still works: it was neither closed nor replaced. */
  async #checkTheCallers({ callersClient: client }: RouteWalk): Promise<void> {
    const wasLost = this.#data.steps.findLast(({ to }) => to !== 'closed')?.to === 'failed-ownership';
    if (client === undefined || wasLost) return;
    await client.ping({ timeout: LIMIT_MS }).catch((cause: unknown) => {
      throw new RouteError(`${this.name}\nat the end: the caller's own client does not work any more`, {
        cause,
      });
    });
  }
}

/** What must have been seen so far. */
class Expectation {
  readonly #entered: string[] = [];
  readonly #settled: Record<number, string> = {};
  readonly #server: Record<keyof ServerSees, number> = {
    processes: 0,
    initializes: 0,
    handshakes: 0,
    pings: 0,
    toolCalls: 0,
    executions: 0,
    deletes: 0,
  };
  #isOver = false;

  add({ enters, settles, server }: RouteStep): void {
    this.#entered.push(...enters);
    Object.assign(this.#settled, settles);
    this.#count(server);
  }

  end(server: ServerSees): void {
    this.#isOver = true;
    this.#count(server);
  }

  /** In words; nothing if there is none. */
  difference(
    { entered, settled, server }: Seen,
    { state, suspectSince }: ConnectionStatus,
    step: RouteStep | undefined,
  ): string | undefined {
    // The closing states of the end belong to every route; sessions are ended off the path of any call.
    const seenEntered = this.#isOver ? entered.slice(0, this.#entered.length) : entered;
    const seenServer = this.#isOver ? server : { ...server, deletes: 0 };
    const pairs = [
      ['the states entered', this.#entered, seenEntered],
      ['the state', step?.to.split('.')[0], step && state],
      ['suspect', step && SUSPECT.includes(step.to), step && suspectSince !== undefined],
      ['the server counted', this.#server, seenServer],
      ['the calls got', this.#settled, this.#isOver ? { ...settled, ...this.#settled } : settled],
    ] as const;
    const wrong = pairs.find(([, must, is]) => JSON.stringify(must) !== JSON.stringify(is));
    return wrong && `${wrong[0]} ${JSON.stringify(wrong[2])}, expected ${JSON.stringify(wrong[1])}`;
  }

  /** What was counted, entered and settled stays so: if it is too much or another, waiting changes nothing. */
  isPast({ entered, settled, server }: Seen): boolean {
    if (this.#isOver) return false;
    return (
      Object.entries(this.#server).some(
        ([what, count]) => what !== 'deletes' && server[what as keyof ServerSees] > count,
      ) ||
      entered.some((state, index) => state !== this.#entered[index]) ||
      Object.entries(settled).some(([number, outcome]) => outcome !== this.#settled[Number(number)])
    );
  }

  #count(more: ServerSees): void {
    for (const [what, by] of Object.entries(more)) this.#server[what as keyof ServerSees] += by;
  }
}

/** That a dial has failed is first seen by the delay that it begins. */
function withoutBackoff({ clock }: RouteWalk, step: RouteStep | undefined): string | undefined {
  if (step?.to.endsWith('.backingOff') !== true) return undefined;
  const isRunning = clock.runningMs.some((ms) => ms <= DURATIONS.maxBackoffMs);
  return isRunning ? undefined : 'no back-off has begun';
}
