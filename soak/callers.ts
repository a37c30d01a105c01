/** Callers that mix side effects, safe tools, reads, lists and pings, with timeouts and aborts, in parallel. */
import type { Lateness } from './lateness.ts';
import { Random } from './random.ts';
import type { CallError, CallKind, CallRecord, RecordFile } from './records.ts';
import type { Slot } from './site.ts';
import { type AskOptions, type Line, SAFE_TOOL } from './subject.ts';

type Choices<T> = readonly (readonly [weight: number, choice: T])[];

const KINDS: Choices<CallKind> = [
  [50, 'append'],
  [20, 'search'],
  [15, 'read'],
  [10, 'list'],
  [5, 'ping'],
];
/** The shortest and the longest. */
const TIMEOUTS: Choices<readonly [number, number]> = [
  [84, [20_000, 20_000]],
  [8, [500, 3_000]],
  [8, [20, 400]],
];
/** At most: before a call has its effect, and after it. */
const WORK: Choices<readonly [number, number]> = [
  [70, [0, 0]],
  [24, [40, 40]],
  [6, [500, 1_000]],
];
/** What the server says while it works. */
const WORDS: Choices<string> = [
  [2, 'log'],
  [2, 'ping'],
  [1, 'roots'],
  [1, 'sample'],
  [1, 'elicit'],
];
/** A host that was refused does not ask again at once. */
const PAUSE_AFTER_FAILURE_MS = 20;

interface Ask {
  readonly kind: CallKind;
  readonly timeoutMs: number;
  readonly abortMs: number | undefined;
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly says: string | undefined;
}

function draw(random: Random): Ask {
  const [beforeMs, afterMs] = random.weighted(WORK);
  return {
    kind: random.weighted(KINDS),
    timeoutMs: random.between(...random.weighted(TIMEOUTS)),
    abortMs: random.chance(0.04) ? random.between(0, 300) : undefined,
    beforeMs: random.between(0, beforeMs),
    afterMs: random.between(0, afterMs),
    says: random.chance(0.1) ? random.weighted(WORDS) : undefined,
  };
}

export class Callers {
  readonly #calls: RecordFile<CallRecord>;
  readonly #lateness: Lateness;
  readonly #pending = new Map<string, Omit<CallRecord, 'settledAt' | 'lateMs'>>();
  #workers: Promise<void>[] = [];
  #stopped = false;

  constructor(calls: RecordFile<CallRecord>, lateness: Lateness) {
    this.#calls = calls;
    this.#lateness = lateness;
  }

  /** So many callers for each connection. */
  start(slots: readonly Slot[], each: number, seed: number): void {
    this.#workers = slots.flatMap((slot) =>
      Array.from({ length: each }, (_, n) => this.#work(slot, `${slot.name}-${n}`, seed)),
    );
  }

  /** No new calls. Resolves when all have settled, or with those that have not within the limit. */
  async stop(limitMs: number): Promise<Omit<CallRecord, 'settledAt' | 'lateMs'>[]> {
    this.#stopped = true;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([Promise.all(this.#workers), limit]);
    clearTimeout(timer);
    return [...this.#pending.values()];
  }

  async #work(slot: Slot, name: string, seed: number): Promise<void> {
    const random = new Random(seed, `caller ${name}`);
    for (let n = 0; !this.#stopped; n++) {
      const answered = await this.#call(slot, `${name}-${n}`, draw(random));
      if (!answered) await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_FAILURE_MS));
    }
  }

  async #call(slot: Slot, id: string, ask: Ask): Promise<boolean> {
    const { line, connection, site } = slot;
    const lateBefore = this.#lateness.total;
    const startedAt = Date.now();
    const dueAt = startedAt + Math.min(ask.timeoutMs, ask.abortMs ?? ask.timeoutMs);
    const call = {
      id,
      kind: ask.kind,
      connection,
      site: site.name,
      startedAt,
      dueAt,
      waited: line.state !== 'ready',
    };
    this.#pending.set(id, call);
    const abort = ask.abortMs === undefined ? undefined : new AbortController();
    const timer = abort && setTimeout(() => abort.abort(), ask.abortMs);
    const options = {
      timeout: ask.timeoutMs,
      maxTotalTimeout: ask.timeoutMs,
      ...(abort && { signal: abort.signal }),
    };
    const outcome = await send(line, id, ask, options).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error: described(error) }),
    );
    clearTimeout(timer);
    this.#pending.delete(id);
    this.#calls.add({
      ...call,
      settledAt: Date.now(),
      lateMs: this.#lateness.total - lateBefore,
      ...outcome,
    });
    return 'answer' in outcome;
  }
}

/** The id that the answer is about; '' where it has none. */
async function send(line: Line, id: string, ask: Ask, options: AskOptions): Promise<string> {
  switch (ask.kind) {
    case 'append':
    case 'search': {
      const { beforeMs, afterMs, says } = ask;
      const name = ask.kind === 'search' ? SAFE_TOOL : 'append';
      const answer = await line.callTool(
        { name, arguments: { id, beforeMs, afterMs, says } },
        undefined,
        options,
      );
      return (answer as { content: { text: string }[] }).content[0]?.text ?? '';
    }
    case 'read': {
      const answer = await line.readResource({ uri: `text://soak/${id}` }, options);
      return (answer as { contents: { text: string }[] }).contents[0]?.text ?? '';
    }
    case 'list':
      await line.listTools({ cursor: id }, options);
      return '';
    case 'ping':
      await line.ping(options);
      return '';
  }
}

function described(error: unknown): CallError {
  const { name, code, why, message, evidence } = Object(error) as Record<string, unknown>;
  const { execution } = Object(evidence) as { execution?: string };
  return {
    label: [name, code, why].filter((word) => word !== undefined).join(' '),
    message: String(message).slice(0, 400),
    ...(execution === undefined ? {} : { execution }),
  };
}
