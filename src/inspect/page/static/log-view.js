// @ts-check
/** The log of every step, the latest first. */

import { repeat } from './lit-html/directives/repeat.js';
import { html, nothing } from './lit-html/lit-html.js';
import { clock, counted, toneOf } from './words.js';

/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./store.js').StepView} StepView */

/** Lines in the page; the others can be searched. */
const SHOWN = 150;

/** @type {readonly ['transitions' | 'operations' | 'ignored', string][]} */
const KINDS = [
  ['transitions', 'Transitions'],
  ['operations', 'Operations'],
  ['ignored', 'No change'],
];

/** @param {Store} store */
export function logView(store) {
  const steps = store.paused ?? store.steps;
  const found = steps.filter((step) => isWanted(step, store.log)).reverse();
  const newest = store.steps.at(-1)?.n ?? 0;
  const missed = newest - (steps.at(-1)?.n ?? 0);
  return html`
    <div class="bar">
      <h2 id="log-title">Log <span class="count">${found.length}</span></h2>
      <button aria-pressed=${store.paused !== undefined} @click=${() => pause(store)}>
        ${store.paused === undefined ? 'Pause' : `Resume${missed > 0 ? ` (${missed} new)` : ''}`}
      </button>
      ${filters(store)}
    </div>
    <div class="lines" role="region" aria-label="Log lines" tabindex="0">
      ${store.leftOut > 0 ? html`<p class="empty">${counted(store.leftOut, 'line')} came too fast to be shown.</p>` : nothing}
      <ol>${repeat(found.slice(0, SHOWN), ({ n }) => n, line)}</ol>
      ${found.length > SHOWN ? html`<p class="empty">${counted(found.length - SHOWN, 'older line')}: search for them.</p>` : nothing}
      ${found.length === 0 ? html`<p class="empty">${steps.length === 0 ? 'Nothing has happened yet.' : 'No line is like that.'}</p>` : nothing}
    </div>
  `;
}

/** @param {StepView} step @param {Store['log']} log */
function isWanted(step, { search, connection, ...shown }) {
  if (!shown[kindOf(step)]) return false;
  if (connection !== '' && step.connection !== connection) return false;
  if (search === '') return true;
  const text = textOf(step);
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** @param {StepView} step */
function kindOf({ machine, path, event }) {
  if (path.length === 0 && event !== 'created' && event !== 'appeared') return 'ignored';
  return machine === 'operation' ? 'operations' : 'transitions';
}

/** @type {WeakMap<StepView, string>} */
const texts = new WeakMap();

/** What a search looks at. @param {StepView} step */
function textOf(step) {
  const known = texts.get(step);
  if (known !== undefined) return known;
  const { connection, machine, event, from, path, to, cause, kind, ignored } = step;
  const words = [connection, machine, event, from, ...path, to, cause, kind, ignored ? 'ignored' : ''];
  const text = words.join(' ').toLowerCase();
  texts.set(step, text);
  return text;
}

/** @param {Store} store */
function pause(store) {
  store.paused = store.paused === undefined ? [...store.steps] : undefined;
  store.touch('log');
}

/** @param {Store} store */
function filters(store) {
  const { log } = store;
  return html`
    <input
      type="search"
      aria-label="Search the log"
      placeholder="Event, state, cause"
      .value=${log.search}
      @input=${(/** @type {InputEvent} */ { target }) => {
        log.search = /** @type {HTMLInputElement} */ (target).value;
        store.touch('log');
      }}
    >
    <select
      aria-label="Connection"
      @change=${(/** @type {Event} */ { target }) => {
        log.connection = /** @type {HTMLSelectElement} */ (target).value;
        store.touch('log');
      }}
    >
      <option value="">All connections</option>
      ${repeat(
        named(store),
        (name) => name,
        (name) => html`<option value=${name}>${name}</option>`,
      )}
    </select>
    <div class="chips" role="group" aria-label="Show lines of this kind">
      ${KINDS.map(
        ([kind, label]) => html`<button
          class="chip"
          aria-pressed=${log[kind]}
          @click=${() => {
            log[kind] = !log[kind];
            store.touch('log');
          }}
        >${label}</button>`,
      )}
    </div>
  `;
}

/** One that is asked for stays in the list when it has gone. @param {Store} store */
function named({ connections, log }) {
  return new Set([...connections.keys(), ...(log.connection === '' ? [] : [log.connection])]);
}

/** @param {StepView} step */
function line({ at, connection, machine, kind, event, from, path, to, cause, ignored, sends }) {
  const way = path.length > 0 ? [...(from === '' ? [] : [from]), ...path] : [to];
  return html`<li class=${ignored ? 'is-past' : ''}>
    <time>${clock(at)}</time>
    <span class="name">${connection}</span>
    <span class="event">${machine === 'operation' ? html`<span class="kind">${kind}</span> ` : nothing}${event}${ignored ? ' (ignored)' : nothing}</span>
    <span class="way-text">${way.slice(0, -1).map((state) => html`${state} → `)}<span class="state-name tone-${toneOf(to)}">${way.at(-1)}</span>${
      cause === undefined ? nothing : html` <code>${cause}</code>`
    }${machine === 'operation' && sends !== undefined && sends > 1 ? html` <span class="muted">sent ${sends} times</span>` : nothing}</span>
  </li>`;
}
