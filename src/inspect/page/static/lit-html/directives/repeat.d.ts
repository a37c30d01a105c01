/** See `../lit-html.d.ts`. */
export { repeat } from 'lit-html/directives/repeat.js';
