/** Where each state and each transition of a chart is drawn. */
import elk, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import type { Chart, ChartState, ChartTransition } from '../src/inspect/chart.ts';

/** Its types say that the class is a property of the module; it is the module. */
const ELK = elk as unknown as typeof elk.default;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface PlacedState {
  readonly state: ChartState;
  readonly box: Box;
  readonly isComposite: boolean;
}

/** All transitions between the same two states, drawn as one line. */
export interface PlacedTransition {
  readonly from: string;
  readonly to: string;
  readonly events: readonly string[];
  readonly line: readonly Point[];
  /** Of its label. */
  readonly middle: Point;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly states: readonly PlacedState[];
  readonly transitions: readonly PlacedTransition[];
}

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.spacing.nodeNode': '44',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '14',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
};
/** Where the machine starts is drawn at the top. */
const INITIAL = { 'elk.layered.layering.layerConstraint': 'FIRST' };
const COMPOSITE = { 'elk.padding': '[top=34,left=14,bottom=14,right=14]' };
/** What a character takes of the font, a little more than less. */
const NAME_WIDTH = 8.6;
const LABEL_WIDTH = 6.6;
const LABEL_HEIGHT = 16;

/** Stands for every state that is not final, where a transition is the machine's own (`abort`). */
const ANY: ChartState = { id: '', name: 'any open state', parent: undefined, initial: false, final: false };

/** `labelled`: leaves room for what stands at each line, which takes three times the space. */
export async function layOut({ id, states, transitions }: Chart, labelled: boolean): Promise<Layout> {
  const drawn = fromAnyState(states, transitions);
  const fromAny = drawn.some(({ from }) => from === ANY.id);
  const chart = { id, states: fromAny ? [...states, ANY] : states, transitions: drawn };
  const merged = mergeParallel(chart.transitions);
  const graph: ElkNode = await new ELK().layout({
    id: 'root',
    layoutOptions: OPTIONS,
    children: childrenOf(chart, undefined),
    edges: merged.map(({ from, to, events }, index) => ({
      id: String(index),
      sources: [from],
      targets: [to],
      labels: labelled ? [labelOf(events)] : [],
    })),
  });
  const boxes = new Map(nodesOf(graph).map((node) => [node.id, boxOf(node)]));
  return {
    width: Math.ceil(graph.width ?? 0),
    height: Math.ceil(graph.height ?? 0),
    states: chart.states.map((state) => ({
      state,
      box: boxes.get(state.id) as Box,
      isComposite: chart.states.some(({ parent }) => parent === state.id),
    })),
    transitions: merged.map((transition, index) => ({
      ...transition,
      ...placed(graph.edges?.[index] as ElkExtendedEdge),
    })),
  };
}

/**
 * What every state does that is not on its own way to the end (`close`) is drawn once: seven lines that all lead to
 * the same place would hide the others.
 */
function fromAnyState(
  states: readonly ChartState[],
  transitions: readonly ChartTransition[],
): readonly ChartTransition[] {
  const outer = states.filter(({ parent, final }) => parent === undefined && !final).map(({ id }) => id);
  const isCommon = ({ to, event }: ChartTransition) =>
    outer.every(
      (id) =>
        id === to || transitions.some((each) => each.from === id && each.to === to && each.event === event),
    );
  return transitions.map((each) => (isCommon(each) ? { ...each, from: ANY.id } : each));
}

/** One line per pair of states. */
function mergeParallel(transitions: readonly ChartTransition[]) {
  const merged = new Map<string, { from: string; to: string; events: string[] }>();
  for (const { from, to, event, guard } of transitions) {
    const words = event === 'always' ? `[${guard ?? 'otherwise'}]` : event;
    const key = `${from} ${to}`;
    const line = merged.get(key) ?? { from, to, events: [] };
    if (!line.events.includes(words)) line.events.push(words);
    merged.set(key, line);
  }
  return [...merged.values()];
}

function childrenOf(chart: Chart, parent: string | undefined): ElkNode[] {
  return chart.states
    .filter((state) => state.parent === parent)
    .map(({ id, name, initial }) => {
      const children = id === ANY.id ? [] : childrenOf(chart, id);
      if (children.length > 0) return { id, layoutOptions: COMPOSITE, children };
      const size = { width: Math.max(96, Math.ceil(name.length * NAME_WIDTH) + 26), height: 38 };
      return parent === undefined && initial ? { id, ...size, layoutOptions: INITIAL } : { id, ...size };
    });
}

function labelOf(events: readonly string[]) {
  const text = events.join(', ');
  return { text, width: Math.ceil(text.length * LABEL_WIDTH), height: LABEL_HEIGHT };
}

function nodesOf({ children = [] }: ElkNode): ElkNode[] {
  return children.flatMap((child) => [child, ...nodesOf(child)]);
}

function boxOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box {
  return { x, y, width, height };
}

function placed({ sections = [], labels = [] }: ElkExtendedEdge): { line: Point[]; middle: Point } {
  const line = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  const [label] = labels.map((each) => boxOf(each as Partial<Box>));
  if (label === undefined) return { line, middle: middleOf(line) };
  return { line, middle: { x: label.x + label.width / 2, y: label.y + label.height / 2 } };
}

/** Of its longest straight piece: there a label stands that is shown only when it is looked for. */
function middleOf(line: readonly Point[]): Point {
  const pieces = line.slice(1).map((to, index) => ({ from: line[index] as Point, to }));
  const lengthOf = ({ from, to }: { from: Point; to: Point }) => Math.hypot(to.x - from.x, to.y - from.y);
  const { from, to } = pieces.reduce((longest, each) =>
    lengthOf(each) > lengthOf(longest) ? each : longest,
  );
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
}
