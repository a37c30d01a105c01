/** A chart as SVG, without styles: the page's style sheet colours it, and lights what is current. */
import type { Layout, PlacedState, PlacedTransition, Point } from './layout.ts';

const CORNER = 6;

export function svgOf(title: string, { width, height, states, transitions }: Layout): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" class="chart" role="img" aria-label="${title}">`,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>',
    // What is inside is drawn over what it is in.
    ...states.filter(({ isComposite }) => isComposite).map(stateGroup),
    ...transitions.map(transitionGroup),
    ...states.filter(({ isComposite }) => !isComposite).map(stateGroup),
    '</svg>',
    '',
  ].join('\n');
}

function stateGroup({ state, box, isComposite }: PlacedState): string {
  const { x, y, width, height } = box;
  const classes = ['state', isComposite && 'composite', state.final && 'final', state.initial && 'initial'];
  const textX = isComposite ? x + 12 : x + width / 2;
  const textY = isComposite ? y + 21 : y + height / 2 + 4.5;
  const anchor = isComposite ? 'start' : 'middle';
  return (
    `<g class="${classes.filter(Boolean).join(' ')}" data-state="${state.id}">` +
    `<rect class="box" x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" rx="${isComposite ? 10 : 8}"/>` +
    `<text class="name" x="${round(textX)}" y="${round(textY)}" text-anchor="${anchor}">${state.name}</text></g>`
  );
}

function transitionGroup({ from, to, events, line, middle }: PlacedTransition): string {
  const words = events.join(', ');
  return (
    `<g class="transition" data-from="${from}" data-to="${to}" data-event="${words}">` +
    `<path class="line" d="${rounded(line)}" marker-end="url(#arrow)"/>` +
    `<text class="label" x="${round(middle.x)}" y="${round(middle.y + 4)}" text-anchor="middle">${words}</text></g>`
  );
}

/** Straight pieces with a quarter of a circle, or less, at each bend. */
function rounded(line: readonly Point[]): string {
  const [first, ...rest] = line as [Point, ...Point[]];
  const pieces = rest.map((point, index) => {
    const before = line[index] as Point;
    const after = rest[index + 1];
    if (after === undefined) return `L${at(point)}`;
    return `L${at(towards(point, before))}Q${at(point)} ${at(towards(point, after))}`;
  });
  return `M${at(first)}${pieces.join('')}`;
}

/** The point on the way from one to another where the bend begins. */
function towards(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const part = Math.min(CORNER, length / 2) / (length || 1);
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}

function at({ x, y }: Point): string {
  return `${round(x)} ${round(y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
