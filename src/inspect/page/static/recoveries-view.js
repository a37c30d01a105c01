// @ts-check
/** Recoveries, the latest first: why, how long, and what came of it. */

import { repeat } from './lit-html/directives/repeat.js';
import { html, nothing } from './lit-html/lit-html.js';
import { clock, counted, duration, exactDuration } from './words.js';

/** @typedef {import('./store.js').RecoveryView} RecoveryView */

/** @param {import('./store.js').Store} store */
export function recoveriesView(store) {
  const all = [...store.recoveries.values()].sort((one, other) => other.id - one.id);
  return html`
    <div class="bar"><h2 id="recoveries-title">Recoveries <span class="count">${all.length}</span></h2></div>
    ${
      all.length === 0
        ? html`<p class="empty">No connection was lost since this page is served.</p>`
        : html`<ul class="rows" tabindex="0" aria-labelledby="recoveries-title">${repeat(
            all,
            ({ id }) => id,
            (each) => row(store, each),
          )}</ul>`
    }
  `;
}

/** @param {import('./store.js').Store} store @param {RecoveryView} recovery */
function row(store, recovery) {
  const { connection, cause, lastCause, attempts, lostAt, wantedAt, endedAt } = recovery;
  const { tone, text } = outcomeOf(recovery);
  const from = wantedAt ?? lostAt;
  const took = endedAt === undefined ? duration(Date.now() - from) : exactDuration(endedAt - from);
  const facts = [clock(lostAt), ...(attempts ? [counted(attempts, 'dial')] : [])];
  if (wantedAt !== undefined && wantedAt - lostAt >= 1_000)
    facts.push(`unwanted for ${duration(wantedAt - lostAt)}`);
  return html`<li>
    <span class="name">${connection}</span>
    <span class="state-name tone-${tone}">${text}</span>
    <span class="since">${recovery.outcome === 'given-back' ? nothing : took}</span>
    <span class="facts">${facts.join(' · ')}</span>
    ${cause === undefined ? nothing : html`<span class="facts"><code>${cause}</code> ${store.causes[cause]}${lastCause === cause ? '' : ` · at last ${lastCause}`}</span>`}
  </li>`;
}

/** @param {RecoveryView} recovery */
function outcomeOf({ outcome, generation, wantedAt }) {
  if (outcome === 'recreated') {
    const done = generation === 1 ? 'connected' : 'recreated';
    return { tone: 'ok', text: `${done} on generation ${generation}` };
  }
  if (outcome === 'exhausted') return { tone: 'bad', text: 'exhausted' };
  if (outcome === 'given-back') return { tone: 'bad', text: 'belongs to its caller' };
  if (outcome === 'closed') return { tone: 'quiet', text: 'closed by the host' };
  return wantedAt === undefined
    ? { tone: 'warn', text: 'waits for an operation' }
    : { tone: 'busy', text: 'under way' };
}
