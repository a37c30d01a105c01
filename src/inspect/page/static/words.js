// @ts-check
/** Words, tones and marks for what is shown. */
import { html, svg } from './lit-html/lit-html.js';

/** A state has a colour and a shape of its own, and its name always stands beside them. */
/** @type {Record<string, { tone: string, shape: unknown }>} */
const STATES = {
  idle: {
    tone: 'quiet',
    shape: svg`<circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="2"/>`,
  },
  connecting: {
    tone: 'busy',
    shape: svg`<circle cx="8" cy="8" r="5" fill="none" stroke="currentColor" stroke-width="2"/><path d="M8 3a5 5 0 0 1 0 10z" fill="currentColor"/>`,
  },
  ready: { tone: 'ok', shape: svg`<circle cx="8" cy="8" r="6" fill="currentColor"/>` },
  lost: {
    tone: 'warn',
    shape: svg`<path d="M8 2l6 6-6 6-6-6z" fill="none" stroke="currentColor" stroke-width="2"/>`,
  },
  recreating: { tone: 'busy', shape: svg`<path d="M8 2l6 11H2z" fill="currentColor"/>` },
  'failed-ownership': { tone: 'bad', shape: svg`<path d="M3 3h10v10H3z" fill="currentColor"/>` },
  exhausted: {
    tone: 'bad',
    shape: svg`<path d="M3 3l10 10M13 3L3 13" stroke="currentColor" stroke-width="3"/>`,
  },
  closing: { tone: 'quiet', shape: svg`<path d="M3 8h10" stroke="currentColor" stroke-width="3"/>` },
  closed: { tone: 'quiet', shape: svg`<path d="M3 8h10" stroke="currentColor" stroke-width="3"/>` },
};

/** @type {Record<string, string>} */
const OPERATION_TONES = {
  judging: 'busy',
  confirming: 'warn',
  awaiting: 'busy',
  sending: 'busy',
  answered: 'ok',
  'passed-through': 'quiet',
  refused: 'bad',
  'unknown-outcome': 'bad',
  unavailable: 'bad',
  cancelled: 'quiet',
  'timed-out': 'bad',
};

/** Every state of a connection, in the order of the machine. */
export const STATE_NAMES = Object.keys(STATES);

/** @param {string} path `recreating.backingOff` */
export function toneOf(path) {
  return STATES[outer(path)]?.tone ?? OPERATION_TONES[path] ?? 'quiet';
}

/** @param {string} path */
export function markOf(path) {
  return html`<svg class="mark tone-${toneOf(path)}" viewBox="0 0 16 16" aria-hidden="true">${STATES[outer(path)]?.shape}</svg>`;
}

/** `recreating`, and what it is doing there. @param {string} path */
export function stateOf(path) {
  const [state, inner] = path.split('.');
  return html`<span class="state-name tone-${toneOf(path)}">${state}</span>${
    inner === undefined || inner === 'steady' ? '' : html`<span class="inner"> ${spoken(inner)}</span>`
  }`;
}

/** `backingOff` as `backing off`. @param {string} name */
export function spoken(name) {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** @type {Record<string, string>} */
const OWNERS = {
  supervisor: 'owned',
  'caller-client': "caller's client",
  'caller-session': "caller's session",
};

/** @param {string} ownership */
export function ownerOf(ownership) {
  return OWNERS[ownership] ?? ownership;
}

/** How long, in at most two units. @param {number} ms */
export function duration(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d`;
}

/** Like `duration`, for what may take no time. @param {number} ms */
export function exactDuration(ms) {
  if (ms < 1_000) return `${ms} ms`;
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)} s` : duration(ms);
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** @param {number} at */
export function clock(at) {
  return CLOCK.format(at);
}

/** A moment, and how long ago it was. @param {number} at */
export function moment(at) {
  return `${clock(at)}, ${duration(Date.now() - at)} ago`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** @param {string} path */
function outer(path) {
  return /** @type {string} */ (path.split('.', 1)[0]);
}
