// @ts-check
/** Operations in trouble: those that last first, then how the last ones ended. */

import { repeat } from './lit-html/directives/repeat.js';
import { html, nothing } from './lit-html/lit-html.js';
import { counted, duration, exactDuration, toneOf } from './words.js';

/** Of those that last. */
const SHOWN = 60;

/** @type {Record<string, string>} */
const EXECUTIONS = { none: 'did not run', unknown: 'may have run', answered: 'was answered' };

/** @param {import('./store.js').Store} store */
export function operationsView(store) {
  const all = [...store.operations.values()].reverse();
  const lasting = all.filter(({ endedAt }) => endedAt === undefined);
  const ended = all.filter(({ endedAt }) => endedAt !== undefined);
  return html`
    <div class="bar"><h2 id="operations-title">Operations in trouble <span class="count">${lasting.length}</span></h2></div>
    ${
      all.length === 0
        ? html`<p class="empty">None has failed or had to wait.</p>`
        : html`<ul class="rows">${repeat(
            [...lasting.slice(0, SHOWN), ...ended],
            ({ id }) => id,
            (each) => row(store, each),
          )}</ul>`
    }
    ${
      lasting.length > SHOWN
        ? html`<p class="empty">${counted(lasting.length - SHOWN, 'more operation')} in trouble, not shown.</p>`
        : nothing
    }
  `;
}

/** @param {import('./store.js').Store} store @param {import('./store.js').OperationView} operation */
function row(store, operation) {
  const { id, connection, kind, state, sends, since, endedAt, cause, execution, unavailability } = operation;
  const facts = [sends === 0 ? 'not sent' : `sent ${counted(sends, 'time')}`];
  if (cause !== undefined) facts.push(cause);
  if (execution !== undefined) facts.push(EXECUTIONS[execution] ?? execution);
  if (unavailability !== undefined) facts.push(unavailability);
  return html`<li class=${endedAt === undefined ? '' : 'is-past'}>
    <button class="line" aria-pressed=${store.operation === id} @click=${() => store.showOperation(operation)}>
      <span class="kind">${kind}</span>
      <span class="state-name tone-${toneOf(state)}">${state}</span>
      <span class="since">${endedAt === undefined ? duration(Date.now() - since) : ending(endedAt - since)}</span>
      <span class="facts"><bdi>${connection}</bdi> · ${facts.join(' · ')}</span>
    </button>
  </li>`;
}

/** @param {number} ms */
function ending(ms) {
  return ms === 0 ? 'at once' : `after ${exactDuration(ms)}`;
}
