// @ts-check
/** The page: what the host tells goes into the store, and what has changed is drawn in the next frame. */
import { announce } from './announce.js';
import { connectionsView } from './connections-view.js';
import { detailView } from './detail-view.js';
import { html, render } from './lit-html/lit-html.js';
import { logView } from './log-view.js';
import { operationsView } from './operations-view.js';
import { recoveriesView } from './recoveries-view.js';
import { Store } from './store.js';
import { follow } from './stream.js';
import { streamView } from './stream-view.js';

/** @type {Record<import('./store.js').Section, (store: Store) => unknown>} */
const VIEWS = {
  stream: streamView,
  connections: connectionsView,
  detail: detailView,
  operations: operationsView,
  recoveries: recoveriesView,
  log: logView,
};

const store = new Store(draw);
follow(store);
// What is said in durations goes on by itself.
setInterval(() => store.touch('stream', 'connections', 'detail', 'operations', 'recoveries'), 1_000);
store.touch('stream', 'connections', 'detail', 'operations', 'recoveries', 'log');

/** @param {ReadonlySet<import('./store.js').Section>} sections */
function draw(sections) {
  for (const section of sections) {
    const root = /** @type {HTMLElement} */ (document.getElementById(section));
    const focused = root.querySelector(':focus');
    render(html`${VIEWS[section](store)}`, root);
    if (focused !== null && !focused.matches(':focus:not(:disabled)')) keepFocus(focused, root);
  }
  announce(store);
}

/**
 * The focus of what was moved, has gone or cannot be used any more stays in its section.
 *
 * @param {Element} lost
 * @param {HTMLElement} root
 */
function keepFocus(lost, root) {
  const isUsable = root.contains(lost) && !lost.matches(':disabled');
  const next = isUsable ? lost : root.querySelector('[tabindex="0"], button:enabled');
  if (next === null) root.tabIndex = -1;
  /** @type {HTMLElement} */ (next ?? root).focus({ preventScroll: true });
}
