// What may happen in a race, as data: fast-check makes it up, prints it and shrinks it.
import fc from 'fast-check';
import type { ReplayPolicy } from '../../src/index.ts';

/**
 * `http`: sessions have an id, which the server may forget; a request can fail alone. `pipe`: what fails is the
 * connection, which closes with every request pending.
 */
export type Kind = 'http' | 'pipe';

/** What the server, or the way to it, does with a request. On a pipe, a cut and a refusal close it. */
export type Fate = (typeof FATES)[number];

const FATES = [
  'answered',
  /** Run, and answered with a JSON-RPC error. */
  'error',
  'unauthorized',
  /** Run; the answer never comes by itself. */
  'unanswered',
  /** Neither run nor answered. */
  'swallowed',
  'cut-after-it-ran',
  'cut-before-it-ran',
  'refused',
] as const;

export type PingFate = 'answered' | 'unanswered' | 'cut' | 'unknown-method';

/** What a server says to a session id that it does not know. */
export type Forgotten = 404 | 400 | -32001;

/** How a `connect` ends. */
export type DialFate =
  | 'connects'
  /** Dialling again may help. */
  | 'refused'
  /** It cannot. */
  | 'denied'
  /** Until it is aborted; then it rejects. */
  | 'hangs'
  /** Pays no heed to its signal, and connects only after it. */
  | 'comes-too-late'
  /** Its connection closes as it finishes, give or take some microtasks. */
  | 'stillborn'
  /** At such a moment the host closes the handle. */
  | 'unwanted';

/** Microtasks until the next task is let go, or all that there are. */
export type Pause = number | 'all';

export type CallCommand = {
  readonly act: 'call';
  readonly policy: ReplayPolicy;
  readonly timeout: number;
  /** Of its first and its second arrival. */
  readonly fates: readonly [Fate, Fate];
};

/** Numbers choose among what there is, modulo how many there are. */
export type Command =
  | CallCommand
  | { readonly act: 'abort'; readonly which: number }
  /** The server forgets every session. */
  | { readonly act: 'forget' }
  /** The newest connection closes. */
  | { readonly act: 'hang up' }
  /** A callback of any connection that there ever was, the current one included. */
  | { readonly act: 'late'; readonly what: 'close' | 'error' | 'answer'; readonly which: number }
  /** What is on its way may come before the next command. */
  | { readonly act: 'nothing' }
  /** Time passes until the next timer. */
  | { readonly act: 'time' }
  | { readonly act: 'reconnect' }
  | { readonly act: 'close' }
  /** Caller-owned: the caller closes its client. */
  | { readonly act: 'caller closes' }
  /** Caller-owned: by a new client, or by the same one, which its caller connects again if need be. */
  | { readonly act: 'replace'; readonly by: 'new' | 'same' };

export interface ServerScript {
  readonly kind: Kind;
  readonly forgotten: Forgotten;
  /** Of one ping after the other; those that follow are answered. */
  readonly pings: readonly PingFate[];
  /** Of the DELETE that ends a session. */
  readonly deletes: 'answered' | 'refused' | 'unanswered';
}

export interface CommonScript extends ServerScript {
  readonly pace: readonly Pause[];
  readonly heartbeatMs: number | undefined;
  readonly commands: readonly Command[];
}

export interface OwnedScript extends CommonScript {
  /** One after the other; those that follow connect. */
  readonly dials: readonly DialFate[];
  /** After the end of a dial that is stillborn or unwanted. */
  readonly microtasks: number;
  readonly recreate: 'eager' | 'on-demand';
  readonly lazy: boolean;
  /** The commands begin when the first dial is over. */
  readonly settled: boolean;
  readonly maxAttempts: number;
  readonly waitForReady: boolean;
  /** What `Math.random` says to the backoff. */
  readonly jitter: number;
}

export interface LentScript extends CommonScript {
  readonly supply: 'client' | 'session' | 'bare session';
}

type Weighted<T> = fc.WeightedArbitrary<T>;

const of = <T>(weight: number, arbitrary: fc.Arbitrary<T>): Weighted<T> => ({ weight, arbitrary });
const just = <const T>(weight: number, value: T): Weighted<T> => of(weight, fc.constant(value));

/** Plain objects, which read better. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record<T>(model, { noNullPrototype: true }) as fc.Arbitrary<T>;

const fate = fc.oneof(just(8, 'answered' as const), of(7, fc.constantFrom(...FATES)));
const call = (fates: fc.Arbitrary<Fate>, ...timeouts: number[]): fc.Arbitrary<CallCommand> =>
  record({
    act: fc.constant('call'),
    policy: fc.constantFrom('safe', 'if-unsent', 'never'),
    timeout: fc.constantFrom(...timeouts),
    fates: fc.tuple(fates, fates),
  });
const which = fc.nat({ max: 7 });
const late: fc.Arbitrary<Command> = record({
  act: fc.constant('late'),
  what: fc.constantFrom('close', 'error', 'answer'),
  which,
});
const forget = just(6, { act: 'forget' } as const);
const reconnect = just(3, { act: 'reconnect' } as const);
const nothing = just(20, { act: 'nothing' } as const);

const always: Weighted<Command>[] = [
  of(20, call(fate, 1_000, 100, 20)),
  of(4, record({ act: fc.constant('abort'), which })),
  forget,
  just(6, { act: 'hang up' }),
  of(6, late),
  just(14, { act: 'time' }),
  nothing,
  just(3, { act: 'close' }),
];

const commands = (...choices: Weighted<Command>[]) =>
  fc.array(fc.oneof(...choices), { minLength: 1, maxLength: 24, size: 'max' });

const pace = fc.array(fc.oneof(just(3, 'all' as const), of(2, fc.nat({ max: 12 }))), {
  minLength: 1,
  maxLength: 6,
  size: 'max',
});

const common = {
  kind: fc.constantFrom<Kind>('http', 'pipe'),
  forgotten: fc.constantFrom<Forgotten>(404, 400, -32001),
  pings: fc.array(fc.constantFrom<PingFate>('answered', 'unanswered', 'cut', 'unknown-method'), {
    maxLength: 3,
  }),
  deletes: fc.constantFrom<ServerScript['deletes']>('answered', 'refused', 'unanswered'),
  heartbeatMs: fc.option(fc.constant(30), { nil: undefined, freq: 3 }),
  pace,
};

const ownedCommon = {
  ...common,
  microtasks: fc.nat({ max: 12 }),
  recreate: fc.constantFrom<OwnedScript['recreate']>('on-demand', 'eager'),
  lazy: fc.boolean(),
  settled: fc.oneof(just(2, true), just(1, false)),
  jitter: fc.constantFrom(1, 0.5, 0),
};

export const ownedScript: fc.Arbitrary<OwnedScript> = record({
  ...ownedCommon,
  dials: fc.array(
    fc.oneof(
      just(14, 'connects' as const),
      just(3, 'refused' as const),
      of(6, fc.constantFrom<DialFate>('denied', 'hangs', 'comes-too-late', 'stillborn', 'unwanted')),
    ),
    { maxLength: 6, size: 'max' },
  ),
  maxAttempts: fc.constantFrom(6, 3, 2, 1),
  waitForReady: fc.oneof(just(4, true), just(1, false)),
  commands: commands(...always, reconnect),
});

/** Nothing goes wrong but that the server forgets, and says so in a way that proves that it ran nothing. */
export const forgetfulScript: fc.Arbitrary<OwnedScript> = record({
  ...ownedCommon,
  kind: fc.constant('http'),
  forgotten: fc.constantFrom<Forgotten>(404, 400),
  pings: fc.constant([]),
  dials: fc.constant([]),
  maxAttempts: fc.constant(100),
  waitForReady: fc.constant(true),
  commands: commands(of(20, call(fc.constant('answered'), 1_000)), forget, reconnect, nothing),
});

export const lentScript: fc.Arbitrary<LentScript> = record({
  ...common,
  supply: fc.constantFrom<LentScript['supply']>('client', 'session', 'bare session'),
  commands: commands(
    ...always,
    just(2, { act: 'caller closes' }),
    of(10, record({ act: fc.constant('replace'), by: fc.constantFrom('new', 'same') })),
  ),
});
