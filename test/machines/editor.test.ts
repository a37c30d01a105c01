/**
 * The machines open in Stately's editors: the parser that those use finds every state and every transition in the
 * source, where a helper, a computed key or a state made elsewhere would have vanished.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { parser } from './editor-parser.ts';

interface ParsedNode {
  readonly states?: Readonly<Record<string, ParsedNode>>;
  readonly on?: unknown;
  readonly after?: unknown;
  readonly always?: unknown;
  readonly invoke?: unknown;
  readonly entry?: unknown;
  readonly type?: unknown;
  readonly initial?: unknown;
}

const MACHINES = [
  { name: 'connection', machine: connectionMachine as AnyStateMachine, file: 'connection.machine.ts' },
  { name: 'operation', machine: operationMachine as AnyStateMachine, file: 'operation.machine.ts' },
];

function parsed(file: string): ParsedNode {
  const source = readFileSync(new URL(`../../machines/${file}`, import.meta.url), 'utf8');
  const machines = parser.extractMachinesFromFile(source)?.machines ?? [];
  expect(machines, 'one machine in the file').toHaveLength(1);
  return machines[0]?.toConfig() as ParsedNode;
}

/** Each with the events that it has transitions for, and how many. */
function ofSource(node: ParsedNode, path = ''): Map<string, string[]> {
  const own = [
    ...counted(node.on, (event) => event),
    ...counted(node.after, (delay) => `after ${delay}`),
    ...list(node.always).map(() => 'always'),
    ...list(node.invoke).flatMap((invoke) => {
      const { onDone, onError } = invoke as { onDone?: unknown; onError?: unknown };
      return [...list(onDone).map(() => 'done'), ...list(onError).map(() => 'error')];
    }),
  ];
  const below = Object.entries(node.states ?? {}).map(([key, child]) =>
    ofSource(child, path === '' ? key : `${path}.${key}`),
  );
  return new Map([[path, own.sort()], ...below.flatMap((map) => [...map])]);
}

function counted(transitions: unknown, name: (key: string) => string): string[] {
  return Object.entries(Object(transitions)).flatMap(([key, value]) => list(value).map(() => name(key)));
}

function list(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function ofMachine(machine: AnyStateMachine): Map<string, string[]> {
  const nodes = [machine.root, ...descendants(machine.root)];
  return new Map(nodes.map((node) => [node.path.join('.'), transitionsOf(node)]));
}

function descendants(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states).flatMap((child) => [child, ...descendants(child)]);
}

function transitionsOf(node: AnyStateNode): string[] {
  const taken = [...node.transitions.values()].flat().map(({ eventType }) => {
    if (eventType.startsWith('xstate.after.')) return `after ${eventType.split('.')[2]}`;
    if (eventType.startsWith('xstate.done.')) return 'done';
    if (eventType.startsWith('xstate.error.')) return 'error';
    return eventType;
  });
  return [...taken, ...(node.always ?? []).map(() => 'always')].sort();
}

// It says of each function in a machine that it does not look into it.
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));

describe.each(MACHINES)('the $name machine', ({ machine, file }) => {
  it('is found whole in its source', () => {
    expect(Object.fromEntries(ofSource(parsed(file)))).toEqual(Object.fromEntries(ofMachine(machine)));
  });

  it('is found with its initial states, final states and guards', () => {
    const source = JSON.stringify(parsed(file));
    for (const node of descendants(machine.root)) {
      if (node.type === 'final') expect(source).toContain(`"${node.key}":{"type":"final"`);
    }
    expect(parsed(file).initial).toBe(machine.config.initial);
  });
});
