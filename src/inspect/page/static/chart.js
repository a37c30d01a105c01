// @ts-check
/** The two statecharts: fetched once, and lit where a machine is and where it went. */

/** @typedef {import('../wire.ts').Trail} Trail */

export class Chart {
  /** What stands in the page. */
  element = document.createElement('div');
  /** @type {SVGElement | undefined} */
  #svg;
  #shown = '';

  /** @param {string} file @param {() => void} onLoad */
  constructor(file, onLoad) {
    this.element.className = 'chart-frame';
    void this.#load(file).then(onLoad);
  }

  /** @param {string} path @param {Trail} trail @param {string} label */
  light(path, trail, label) {
    const key = JSON.stringify([path, trail, label]);
    if (this.#svg === undefined || this.#shown === key) return;
    this.#shown = key;
    this.#svg.setAttribute('aria-label', label);
    const states = trail.map(({ state }) => state);
    for (const each of this.#svg.querySelectorAll('.state')) {
      const id = /** @type {SVGElement} */ (each).dataset.state ?? '';
      each.classList.toggle('is-current', isWithin(path, id));
      each.classList.toggle(
        'is-visited',
        states.some((state) => isWithin(state, id)),
      );
    }
    const taken = takenOf(trail, [...this.#svg.querySelectorAll('.transition')].map(transitionOf));
    for (const [index, each] of this.#svg.querySelectorAll('.transition').entries()) {
      each.classList.toggle('is-visited', taken.has(index));
    }
  }

  /** @param {string} file */
  async #load(file) {
    const text = await (await fetch(file)).text();
    const { documentElement } = new DOMParser().parseFromString(text, 'image/svg+xml');
    this.#svg = /** @type {SVGElement} */ (
      /** @type {unknown} */ (document.importNode(documentElement, true))
    );
    this.element.replaceChildren(this.#svg);
  }
}

/** @param {string} path @param {string} state */
function isWithin(path, state) {
  return path === state || path.startsWith(`${state}.`);
}

/** @param {Element} element */
function transitionOf(element) {
  const { from = '', to = '', event = '' } = /** @type {SVGElement} */ (element).dataset;
  return { from, to, events: event.split(', ') };
}

/** The transitions that were taken, by index. @param {Trail} trail @param {ReturnType<typeof transitionOf>[]} all */
function takenOf(trail, all) {
  return new Set(
    trail.slice(1).flatMap(({ state, event }, index) => {
      const from = trail[index]?.state ?? '';
      const fitting = all.flatMap((each, at) =>
        isWithin(from, each.from) && isWithin(state, each.to) ? [at] : [],
      );
      const named = fitting.filter((at) => all[at]?.events.some((name) => isNamed(name, event)));
      return named.length > 0 ? named : fitting;
    }),
  );
}

/** A transition without an event is labelled by its guard. @param {string} name @param {string} event */
function isNamed(name, event) {
  return event === 'always' ? name.startsWith('[') : name === event;
}
