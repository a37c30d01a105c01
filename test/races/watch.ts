// What a connection says of itself, against what is legal.
import type { ConnectionHandle, ConnectionState } from '../../src/index.ts';

type Legal = Readonly<Record<ConnectionState, readonly ConnectionState[]>>;

/** By hand, from the machine's table: not from the machine. */
const OWNED: Legal = {
  idle: ['connecting', 'closing'],
  connecting: ['ready', 'exhausted', 'closing'],
  ready: ['recreating', 'lost', 'closing'],
  lost: ['recreating', 'exhausted', 'closing'],
  recreating: ['ready', 'exhausted', 'closing'],
  'failed-ownership': [],
  exhausted: ['connecting', 'recreating', 'closing'],
  closing: ['closed'],
  closed: [],
};

const LENT: Legal = {
  idle: [],
  connecting: ['ready', 'failed-ownership', 'closing'],
  ready: ['lost', 'connecting', 'closing'],
  lost: ['failed-ownership'],
  recreating: [],
  'failed-ownership': ['connecting', 'closing'],
  exhausted: [],
  closing: ['closed'],
  closed: [],
};

export interface Said {
  /** How many. */
  transitions: number;
  /** Generations. */
  readonly recreated: number[];
}

/** `onEnter`: called after the transition has been judged. */
export function watch(
  handle: ConnectionHandle,
  blame: (wrong: string) => void,
  onEnter: (to: ConnectionState, from: ConnectionState) => void,
): Said {
  const isOwned = handle.ownership === 'supervisor';
  const legal = isOwned ? OWNED : LENT;
  const said: Said = { transitions: 0, recreated: [] };
  const lost: number[] = [];
  let { state, generation } = handle;

  handle.on('transition', (event) => {
    const { from, to } = event;
    const step = `${from} -> ${to} at generation ${event.generation}`;
    if (from !== state) blame(`${step}, and it was ${state}`);
    if (!legal[from].includes(to)) blame(`${step} is not legal`);
    // The word until the first `ready`, and never after it.
    const isWrongWord = generation === 0 ? to === 'recreating' : isOwned && to === 'connecting';
    if (isWrongWord) blame(`${step} is the wrong word`);
    const expected = generation + (to === 'ready' ? 1 : 0);
    if (event.generation !== expected) blame(`${step}, and it was ${generation}`);
    if (handle.generation !== event.generation) blame(`${step}, and the handle says ${handle.generation}`);
    if (handle.state !== to) blame(`${step}, and the handle says ${handle.state}`);
    state = to;
    generation = event.generation;
    said.transitions++;
    onEnter(to, from);
  });
  handle.on('lost', (event) => {
    if (event.generation !== generation) blame(`"lost" said of generation ${event.generation}`);
    if (lost.includes(generation)) blame(`"lost" said twice of generation ${generation}`);
    lost.push(event.generation);
  });
  handle.on('recreated', (event) => {
    if (event.generation !== generation || state !== 'ready') blame(`"recreated" said while ${state}`);
    if (said.recreated.includes(generation)) blame(`"recreated" said twice of generation ${generation}`);
    if (!isOwned || generation === 1) blame(`"recreated" said, and it was not`);
    said.recreated.push(event.generation);
  });
  return said;
}
