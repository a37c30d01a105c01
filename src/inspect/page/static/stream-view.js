// @ts-check
/** Whether what is shown is what is so. */
import { html } from './lit-html/lit-html.js';
import { duration } from './words.js';

/** A host tells every two seconds that it is there; one that does not has hung, or is held in a debugger. */
const SILENT_MS = 6_000;
/** A page server that comes back at once is worth no alarm. */
const GONE_MS = 3_000;

/** @param {import('./store.js').Store} store */
export function streamView({ stream }) {
  const { tone, text } = conditionOf(stream);
  return html`<span class="lamp tone-${tone}" aria-hidden="true"></span><span>${text}</span>`;
}

/** @param {import('./store.js').Store['stream']} stream */
export function conditionOf({ state, since, heardAt }) {
  const now = Date.now();
  const away = duration(now - heardAt);
  if (state === 'refused')
    return said('bad', 'Another host listens here now: open the address that it prints');
  if (state === 'connecting') return said('busy', 'Connecting');
  if (state === 'lost' && now - since < GONE_MS) return said('busy', 'Reconnecting');
  if (state === 'lost')
    return said('bad', `The host is gone. This is what was known ${away} ago; reconnecting`);
  if (now - heardAt > SILENT_MS) return said('warn', `The host has said nothing for ${away}`);
  return said('ok', 'Live');
}

/** @param {string} tone @param {string} text */
function said(tone, text) {
  return { tone, text };
}
