// @ts-check
/** The chosen connection: what is known of it, what to do, and its statechart. */
import { say } from './announce.js';
import { Chart } from './chart.js';
import { html, nothing } from './lit-html/lit-html.js';
import { useControl } from './stream.js';
import { clock, duration, markOf, moment, ownerOf, stateOf } from './words.js';

/** @typedef {import('./store.js').Store} Store */
/** @typedef {import('./store.js').ConnectionView} ConnectionView */

/** @type {{ connection: Chart, operation: Chart } | undefined} */
let charts;

/** @param {Store} store */
export function detailView(store) {
  charts ??= {
    connection: new Chart('connection.svg', () => store.touch('detail')),
    operation: new Chart('operation.svg', () => store.touch('detail')),
  };
  const view = store.connections.get(store.chosen ?? '');
  if (view === undefined) {
    return html`<h2 id="detail-title">${store.chosen ?? 'No connection'}</h2>
      <p class="empty">${store.chosen === undefined ? 'Choose one from the list.' : 'It is closed, and not shown any more.'}</p>`;
  }
  return html`
    <div class="title">
      <h2 id="detail-title">${view.connection}</h2>
      <p class="badge">${markOf(view.state)}${stateOf(view.path)}</p>
      ${store.controls.length > 0 ? controls(store, view) : nothing}
    </div>
    ${view.action === undefined ? nothing : html`<p class="callout"><strong>What to do</strong> ${view.action}</p>`}
    <dl class="figures">${figures(store, view)}</dl>
    ${chartOf(store, view)}
  `;
}

/** @param {Store} store @param {ConnectionView} view */
function figures(store, view) {
  const { ownership, generation, protocolVersion, since, suspectSince } = view;
  const { inFlight, waiting, attempts, reason, lastError } = view;
  const now = Date.now();
  return [
    figure('Ownership', ownerOf(ownership)),
    figure('Generation', generation),
    protocolVersion === undefined ? nothing : figure('Protocol version', protocolVersion),
    figure('In this state', duration(now - since)),
    suspectSince === undefined ? nothing : figure('Suspect since', moment(suspectSince)),
    figure('In flight', inFlight),
    figure('Waiting', waiting),
    figure('Dials since stable', attempts),
    reason === undefined ? nothing : figure('Not ready because', cause(store, reason)),
    lastError === undefined
      ? nothing
      : figure(
          'Last error',
          html`${cause(store, lastError.cause)} <span class="muted">on generation ${lastError.generation}, ${duration(now - lastError.at)} ago</span>`,
        ),
  ];
}

/** @param {string} name @param {unknown} value */
function figure(name, value) {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** @param {Store} store @param {string} code */
function cause(store, code) {
  return html`<code>${code}</code> ${store.causes[code]}`;
}

/** @param {Store} store @param {ConnectionView} view */
function controls(store, { connection, state }) {
  const { control } = store;
  return html`<div class="controls" role="group" aria-label="Controls">
    ${store.controls.map(
      ({ name, label }) =>
        html`<button ?disabled=${state === 'closed'} @click=${() => use(store, name, label, connection)}>${label}</button>`,
    )}
    ${control?.connection === connection ? html`<span class="muted">${control.text}</span>` : nothing}
  </div>`;
}

/** @param {Store} store @param {string} name @param {string} label @param {string} connection */
async function use(store, name, label, connection) {
  /** @param {string} outcome */
  const tell = (outcome) => {
    store.control = { connection, text: `${label}: ${outcome}` };
    store.touch('detail');
  };
  tell('under way');
  const outcome = (await useControl(name, connection)) ? 'done' : 'failed';
  tell(outcome);
  say(`${label}: ${outcome}`);
}

/** @param {Store} store @param {ConnectionView} view */
function chartOf(store, view) {
  if (charts === undefined) return nothing;
  const operation = store.operations.get(store.operation ?? '');
  const shown = operation ?? view;
  const path = operation?.state ?? view.path;
  const chart = operation === undefined ? charts.connection : charts.operation;
  const what = operation === undefined ? view.connection : `${operation.kind} operation`;
  chart.light(path, shown.trail, `Statechart: ${what} is in ${path}`);
  return html`<figure>
    <figcaption>
      <span class="muted">${operation === undefined ? 'Last path' : `A ${operation.kind} operation since ${clock(operation.since)}`}</span>
      <ol class="way">${shown.trail.map(({ state, event }) => html`<li title=${event}>${state}</li>`)}</ol>
      ${operation === undefined ? nothing : html`<button @click=${() => store.showOperation(undefined)}>Show the connection</button>`}
    </figcaption>
    ${chart.element}
  </figure>`;
}
