// @ts-check
/** The list of connections: searched, filtered by state, and walked with the arrow keys. */

import { repeat } from './lit-html/directives/repeat.js';
import { html, nothing } from './lit-html/lit-html.js';
import { duration, markOf, moment, ownerOf, STATE_NAMES, stateOf } from './words.js';

/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./store.js').ConnectionView} ConnectionView */

/** What is chosen stands below the list there. */
const isPhone = matchMedia('(max-width: 759.9px)');

/** @param {Store} store */
export function connectionsView(store) {
  const all = [...store.connections.values()];
  const shown = all.filter((each) => isWanted(each, store.list));
  // One row can be reached with Tab, the others from there.
  const reachable = shown.some(({ connection }) => connection === store.chosen)
    ? store.chosen
    : shown[0]?.connection;
  return html`
    <div class="bar">
      <h2 id="connections-title">Connections <span class="count">${all.length}</span></h2>
      <input
        type="search"
        aria-label="Search connections"
        placeholder="Name, cause, owner"
        .value=${store.list.search}
        @input=${(/** @type {InputEvent} */ { target }) => {
          store.list.search = /** @type {HTMLInputElement} */ (target).value;
          store.touch('connections');
        }}
        @keydown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.key === 'ArrowDown') move(store, shown, event, 0);
        }}
      >
      <div class="chips" role="group" aria-label="Show only one state">${chips(store, all)}</div>
    </div>
    <div
      class="rows"
      role="listbox"
      aria-label="Connections"
      @keydown=${(/** @type {KeyboardEvent} */ event) => walk(store, shown, event)}
    >
      ${repeat(
        shown,
        ({ connection }) => connection,
        (each) => row(store, each, each.connection === reachable),
      )}
    </div>
    ${shown.length > 0 ? nothing : html`<p class="empty">${all.length === 0 ? 'This host has no connections.' : 'No connection is like that.'}</p>`}
  `;
}

/** @param {ConnectionView} view @param {Store['list']} list */
function isWanted(view, { search, state }) {
  if (state !== '' && view.state !== state) return false;
  const { connection, path, ownership, suspectSince, reason, lastError } = view;
  const suspect = suspectSince === undefined ? '' : 'suspect';
  const text = [connection, path, suspect, ownership, ownerOf(ownership), reason, lastError?.cause].join(' ');
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.toLowerCase().includes(word));
}

/** @param {Store} store @param {ConnectionView[]} all */
function chips(store, all) {
  return STATE_NAMES.map((state) => {
    const count = all.filter((each) => each.state === state).length;
    const isPressed = store.list.state === state;
    if (count === 0 && !isPressed) return nothing;
    return html`<button
      class="chip"
      aria-pressed=${isPressed}
      @click=${() => {
        store.list.state = isPressed ? '' : state;
        store.touch('connections');
      }}
    >${markOf(state)}${state} <span class="count">${count}</span></button>`;
  });
}

/** @param {Store} store @param {ConnectionView} view @param {boolean} isReachable */
function row(store, view, isReachable) {
  const {
    connection,
    state,
    path,
    ownership,
    generation,
    since,
    suspectSince,
    inFlight,
    waiting,
    reason,
    lastError,
    action,
  } = view;
  const now = Date.now();
  const facts = [
    ownerOf(ownership),
    `gen ${generation}`,
    ...(inFlight > 0 ? [`${inFlight} in flight`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ];
  return html`<div
    class="row ${state === 'closed' ? 'is-past' : ''}"
    role="option"
    data-name=${connection}
    aria-selected=${connection === store.chosen}
    tabindex=${isReachable ? 0 : -1}
    @click=${() => {
      store.choose(connection);
      if (isPhone.matches) document.getElementById('detail')?.scrollIntoView();
    }}
  >
    ${markOf(state)}
    <span class="name">${connection}</span>
    <span class="since">${duration(now - since)}</span>
    <span class="facts">${stateOf(path)} · ${facts.join(' · ')}</span>
    ${
      suspectSince === undefined
        ? nothing
        : html`<span class="facts"><span class="state-name tone-warn">suspect</span> since ${moment(suspectSince)}</span>`
    }
    ${
      lastError === undefined && reason === undefined
        ? nothing
        : html`<span class="facts">${reason ?? `last error ${lastError?.cause}, ${duration(now - (lastError?.at ?? now))} ago`}</span>`
    }
    ${action === undefined ? nothing : html`<span class="todo">${action}</span>`}
  </div>`;
}

/** @param {Store} store @param {ConnectionView[]} shown @param {KeyboardEvent} event */
function walk(store, shown, event) {
  const here = shown.findIndex(({ connection }) => connection === store.chosen);
  /** @type {Record<string, number>} */
  const targets = {
    ArrowDown: here + 1,
    ArrowUp: here - 1,
    PageDown: here + 10,
    PageUp: here - 10,
    Home: 0,
    End: shown.length - 1,
    Enter: Math.max(here, 0),
    ' ': Math.max(here, 0),
  };
  const target = targets[event.key];
  if (target !== undefined) move(store, shown, event, target);
}

/** @param {Store} store @param {ConnectionView[]} shown @param {KeyboardEvent} event @param {number} index */
function move(store, shown, event, index) {
  const target = shown[Math.min(Math.max(index, 0), shown.length - 1)];
  if (target === undefined) return;
  event.preventDefault();
  store.choose(target.connection);
  // The row must be the one that Tab reaches before it can have the focus.
  store.drawNow();
  const rows = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[role=option]'));
  [...rows].find(({ dataset }) => dataset.name === target.connection)?.focus();
}
