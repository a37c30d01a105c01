// @ts-check
/** The two statecharts: fetched once, and lit where a machine is and where it went. */

import { toneOf } from './words.js';

/** @typedef {import('../wire.ts').Trail} Trail */
/** A transition as it is drawn. @typedef {{ element: SVGElement, from: string, to: string, events: string[] }} Drawn */

export class Chart {
  /** What stands in the page. */
  element = document.createElement('div');
  /** @type {SVGElement | undefined} */
  #svg;
  /** @type {SVGElement[]} */
  #states = [];
  /** @type {Drawn[]} */
  #transitions = [];
  #shown = '';
  #file;
  #onLoad;
  /** @type {Promise<void> | undefined} */
  #loading;

  /** @param {string} file @param {() => void} onLoad */
  constructor(file, onLoad) {
    this.element.className = 'chart-frame';
    this.#file = file;
    this.#onLoad = onLoad;
  }

  /** @param {string} path @param {Trail} trail @param {string} label */
  light(path, trail, label) {
    const key = JSON.stringify([path, trail, label]);
    if (this.#svg === undefined) {
      // One that does not come is asked for again with the next drawing.
      this.#loading ??= this.#load().catch(() => {
        this.#loading = undefined;
      });
      return;
    }
    if (this.#shown === key) return;
    this.#shown = key;
    this.#svg.setAttribute('aria-label', label);
    this.element.className = `chart-frame tone-${toneOf(path)}`;
    const visited = trail.map(({ state }) => state);
    for (const element of this.#states) {
      const { state = '' } = element.dataset;
      element.classList.toggle('is-current', isWithin(path, state));
      element.classList.toggle(
        'is-visited',
        visited.some((each) => isWithin(each, state)),
      );
    }
    const taken = takenOf(trail, this.#transitions);
    for (const drawn of this.#transitions) {
      const events = taken.get(drawn);
      drawn.element.classList.toggle('is-visited', events !== undefined);
      // Over all that was drawn before.
      if (events !== undefined) this.#svg.append(drawn.element);
      const words = drawn.element.querySelector('.label');
      if (words !== null) words.textContent = (events ?? drawn.events).join(', ');
    }
  }

  async #load() {
    const answer = await fetch(this.#file);
    if (!answer.ok) throw new Error(`${this.#file}: ${answer.status}`);
    const text = await answer.text();
    const { documentElement } = new DOMParser().parseFromString(text, 'image/svg+xml');
    const svg = /** @type {SVGElement} */ (
      /** @type {unknown} */ (document.importNode(documentElement, true))
    );
    svg.setAttribute('preserveAspectRatio', 'xMidYMin meet');
    this.#states = [...svg.querySelectorAll('.state')].map(asSvg);
    this.#transitions = [...svg.querySelectorAll('.transition')].map(asSvg).map((element) => {
      const { from = '', to = '', event = '' } = element.dataset;
      return { element, from, to, events: event.split(', ') };
    });
    this.#svg = svg;
    this.element.replaceChildren(svg);
    this.#onLoad();
  }
}

/** @param {Element} element */
function asSvg(element) {
  return /** @type {SVGElement} */ (element);
}

/** @param {string} path @param {string} state */
function isWithin(path, state) {
  return path === state || path.startsWith(`${state}.`);
}

/**
 * The transitions that were taken, and by which of their events.
 *
 * @param {Trail} trail
 * @param {Drawn[]} all
 */
function takenOf(trail, all) {
  /** @type {Map<Drawn, string[]>} */
  const taken = new Map();
  for (const [index, { state, event }] of trail.slice(1).entries()) {
    const from = trail[index]?.state ?? '';
    const fitting = all.filter((each) => leads(each, from, state));
    const named = fitting.filter(({ events }) => events.some((name) => isNamed(name, event)));
    for (const each of named) {
      taken.set(
        each,
        each.events.filter((name) => isNamed(name, event)),
      );
    }
  }
  return taken;
}

/** One that is drawn from nowhere leads from any state. @param {Drawn} drawn @param {string} from @param {string} to */
function leads(drawn, from, to) {
  return (drawn.from === '' || isWithin(from, drawn.from)) && isWithin(to, drawn.to);
}

/** A transition without an event is labelled by its guard. @param {string} name @param {string} event */
function isNamed(name, event) {
  return event === 'always' ? name.startsWith('[') : name === event;
}
