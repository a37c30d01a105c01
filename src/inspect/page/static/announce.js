// @ts-check
/** Says the state of the chosen connection to those who do not see it, and not more often than one can listen. */
import { conditionOf } from './stream-view.js';
import { spoken } from './words.js';

const PAUSE_MS = 1_000;

/** @type {{ connection: string, text: string } | undefined} */
let known;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** The condition of the stream as it was said. @type {string | undefined} */
let heard;

/** What is so when a connection is chosen is not said; what changes after that is. @param {import('./store.js').Store} store */
export function announce(store) {
  sayStream(store);
  const now = stateOf(store);
  if (now === undefined || now.connection !== known?.connection) {
    known = now;
    clearTimeout(timer);
    timer = undefined;
  } else if (now.text !== known.text && timer === undefined) {
    timer = setTimeout(() => sayState(store), PAUSE_MS);
  }
}

/**
 * Whether what is shown is what is so; what lasts only a moment is not worth a word.
 *
 * @param {import('./store.js').Store} store
 */
function sayStream({ stream }) {
  const { tone, text } = conditionOf(stream);
  const now = `${tone} ${stream.state}`;
  if (tone === 'busy' || now === heard) return;
  if (heard !== undefined) say(text);
  heard = now;
}

/** @param {import('./store.js').Store} store */
function sayState(store) {
  timer = undefined;
  const now = stateOf(store);
  if (now !== undefined && now.connection === known?.connection) say(now.text);
  known = now;
}

/** @param {import('./store.js').Store} store */
function stateOf({ connections, chosen = '' }) {
  const view = connections.get(chosen);
  if (view === undefined) return undefined;
  // Not each probe of a suspicion that lasts.
  const path = view.suspectSince === undefined ? view.path : 'ready.suspect';
  const text = `${chosen}: ${spoken(path.replace('.', ', '))}, generation ${view.generation}`;
  return { connection: chosen, text };
}

/** @param {string} text */
export function say(text) {
  const region = document.getElementById('said');
  if (region !== null) region.textContent = text;
}
