/** What the monkey does to one site, and when: a pure function of the seed. Durations in milliseconds. */
import { Random } from './random.ts';

export type Fault =
  /** SIGKILL; over HTTP the server is back after `downMs`. */
  | { readonly kind: 'kill'; readonly downMs: number }
  /** SIGSTOP, then SIGCONT. */
  | { readonly kind: 'stop'; readonly ms: number }
  /** The server forgets its sessions; `silently`: their streams stay open. */
  | { readonly kind: 'evict'; readonly all: boolean; readonly silently: boolean }
  /** This share of the open sockets is reset, or (`quietly`) ended as if all had been said. */
  | { readonly kind: 'reset'; readonly share: number; readonly quietly: boolean }
  /** So many answers are cut after their headers and at most so many bytes. */
  | { readonly kind: 'cut'; readonly answers: number; readonly bodyBytes: number; readonly quietly: boolean }
  /** Nothing passes the open sockets, nor later ones; afterwards it goes on, or (`drops`) they are reset. */
  | { readonly kind: 'stall'; readonly ms: number; readonly drops: boolean }
  /** Nobody listens, and the open sockets are reset. */
  | { readonly kind: 'refuse'; readonly ms: number }
  /** So many requests are answered by the gateway; `ran`: the server has run them, and its answer is dropped. */
  | { readonly kind: '502'; readonly requests: number; readonly ran: boolean }
  | { readonly kind: '429'; readonly requests: number; readonly retryAfterS: number }
  /** The host calls `reconnect()`. */
  | { readonly kind: 'reconnect'; readonly slot: number }
  /** The host closes a handle, and opens a new one. */
  | { readonly kind: 'reopen'; readonly slot: number };

export interface Step {
  readonly pauseMs: number;
  readonly fault: Fault;
}

/** Each hand strikes one after the other; the hands of one site strike in the midst of each other's faults. */
export type Hand = 'process' | 'wire' | 'host';

export interface SiteShape {
  readonly name: string;
  readonly overHttp: boolean;
  /** How many connections lead to it. */
  readonly slots: number;
}

type Draw = (random: Random, site: SiteShape) => Fault;
type Draws = readonly (readonly [weight: number, draw: Draw])[];

const OF_PROCESSES: Draws = [
  [3, (random) => ({ kind: 'kill', downMs: random.chance(0.5) ? 0 : random.between(50, 1_500) })],
  [
    2,
    (random) => ({
      kind: 'stop',
      ms: random.chance(0.8) ? random.between(50, 500) : random.between(500, 3_000),
    }),
  ],
];

const OF_SESSIONS: Draws = [
  [3, (random) => ({ kind: 'evict', all: random.chance(0.5), silently: random.chance(0.5) })],
];

const OF_WIRES: Draws = [
  [
    3,
    (random) => ({
      kind: 'reset',
      share: random.chance(0.3) ? 1 : random.next(),
      quietly: random.chance(0.5),
    }),
  ],
  [
    3,
    (random) => ({
      kind: 'cut',
      answers: random.between(1, 6),
      bodyBytes: random.chance(0.5) ? 0 : random.between(1, 120),
      quietly: random.chance(0.5),
    }),
  ],
  [1, (random) => ({ kind: 'stall', ms: random.between(50, 2_000), drops: random.chance(0.3) })],
  [2, (random) => ({ kind: 'refuse', ms: random.between(20, 1_500) })],
  [3, (random) => ({ kind: '502', requests: random.between(1, 6), ran: random.chance(0.5) })],
  [2, (random) => ({ kind: '429', requests: random.between(1, 4), retryAfterS: random.between(0, 1) })],
];

const OF_HOSTS: Draws = [
  [1, (random, { slots }) => ({ kind: 'reconnect', slot: random.between(0, slots - 1) })],
  [1, (random, { slots }) => ({ kind: 'reopen', slot: random.between(0, slots - 1) })],
];

export function handsOf({ overHttp }: Pick<SiteShape, 'overHttp'>): readonly Hand[] {
  return overHttp ? ['process', 'wire', 'host'] : ['process', 'host'];
}

/** Between two faults. */
const PAUSES: Readonly<Record<Hand, readonly [shortest: number, longest: number]>> = {
  process: [300, 6_000],
  wire: [100, 5_000],
  host: [500, 8_000],
};

export function* planOf(seed: number, hand: Hand, site: SiteShape): Generator<Step, never> {
  const random = new Random(seed, `${hand} of ${site.name}`);
  const draws = {
    process: site.overHttp ? [...OF_PROCESSES, ...OF_SESSIONS] : OF_PROCESSES,
    wire: OF_WIRES,
    host: OF_HOSTS,
  }[hand];
  for (;;) yield { pauseMs: random.between(...PAUSES[hand]), fault: random.weighted(draws)(random, site) };
}
