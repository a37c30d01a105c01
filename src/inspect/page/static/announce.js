// @ts-check
/** Says the state of the chosen connection to those who do not see it, and not more often than one can listen. */
import { spoken } from './words.js';

const PAUSE_MS = 1_500;

/** @param {import('./store.js').Store} store */
export function announceChanges(store) {
  let said = '';
  setInterval(() => {
    const connection = store.connections.get(store.chosen ?? '');
    if (connection === undefined) return;
    const { path, generation } = connection;
    const text = `${connection.connection}: ${spoken(path.replace('.', ', '))}, generation ${generation}`;
    if (text !== said && said !== '') say(text);
    said = text;
  }, PAUSE_MS);
}

/** @param {string} text */
export function say(text) {
  const region = document.getElementById('said');
  if (region !== null) region.textContent = text;
}
