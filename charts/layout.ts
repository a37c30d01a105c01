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
  readonly label: Box;
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
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.edgeEdge': '10',
  'elk.layered.spacing.nodeNodeBetweenLayers': '30',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.padding': '[top=8,left=8,bottom=8,right=8]',
};
/** Where the machine starts is drawn at the top. */
const INITIAL = { 'elk.layered.layering.layerConstraint': 'FIRST' };
const COMPOSITE = { 'elk.padding': '[top=34,left=14,bottom=14,right=14]' };
/** What a character takes of the fonts in the page's style, a little more than less. */
const NAME_WIDTH = 7.6;
const LABEL_WIDTH = 6.2;

/** Stands for every state, where a transition is the machine's own (`abort`). */
const ANY: ChartState = { id: '', name: 'any state', parent: undefined, initial: false, final: false };

export async function layOut({ id, states, transitions }: Chart): Promise<Layout> {
  const fromAny = transitions.some(({ from }) => from === ANY.id);
  const chart = { id, states: fromAny ? [...states, ANY] : states, transitions };
  const merged = mergeParallel(chart.transitions);
  const graph: ElkNode = await new ELK().layout({
    id: 'root',
    layoutOptions: OPTIONS,
    children: childrenOf(chart, undefined),
    edges: merged.map(({ from, to, events }, index) => ({
      id: String(index),
      sources: [from],
      targets: [to],
      labels: [{ text: events.join(', '), ...labelSize(events) }],
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
      const size = { width: Math.max(84, Math.ceil(name.length * NAME_WIDTH) + 26), height: 34 };
      return parent === undefined && initial ? { id, ...size, layoutOptions: INITIAL } : { id, ...size };
    });
}

function labelSize(events: readonly string[]): { width: number; height: number } {
  return { width: Math.ceil(events.join(', ').length * LABEL_WIDTH), height: 14 };
}

function nodesOf({ children = [] }: ElkNode): ElkNode[] {
  return children.flatMap((child) => [child, ...nodesOf(child)]);
}

function boxOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box {
  return { x, y, width, height };
}

function placed({ sections = [], labels = [] }: ElkExtendedEdge): { line: Point[]; label: Box } {
  const line = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  return { line, label: boxOf(labels[0] as Partial<Box>) };
}
