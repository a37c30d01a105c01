import { describe, expect, it } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { dot } from '../../src/cli/dot.ts';
import { mermaid } from '../../src/cli/mermaid.ts';
import { chartOf } from '../../src/inspect/chart.ts';
import { runCli } from './run-cli.ts';

const MACHINES: [string, AnyStateMachine][] = [
  ['connection', connectionMachine],
  ['operation', operationMachine],
];

describe.each(MACHINES)('graph %s', (name, machine) => {
  const { states, transitions } = chartOf(machine);

  it('as JSON is all of it', async () => {
    const { stdout, code } = await runCli(['graph', name, '--format', 'json']);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify({ id: name, states, transitions })));
    expect(code).toBe(0);
  });

  it('as Mermaid has every state and every transition', () => {
    const stdout = mermaid(chartOf(machine));
    expect(stdout.startsWith('stateDiagram-v2\n')).toBe(true);
    for (const state of states) expect(stdout).toContain(`state "${state.name}" as `);
    expect(stdout.match(/ --> \S+ : /g)).toHaveLength(transitions.length);
    // Mermaid takes neither dots nor dashes in an id.
    for (const [, id] of stdout.matchAll(/ as (\S+)/g)) expect(id).toMatch(/^\w+$/);
  });

  it('as dot has every transition between states that it has', () => {
    const stdout = dot(chartOf(machine));
    const nodes = [...stdout.matchAll(/^ *"([^"]+)" \[/gm)].map(([, id]) => id);
    const arrows = [...stdout.matchAll(/"([^"]+)" -> "([^"]+)"/g)];
    expect(arrows).toHaveLength(transitions.length);
    for (const [, from, to] of arrows) {
      expect([...nodes, 'any state']).toContain(from);
      expect(nodes).toContain(to);
    }
  });

  it('as SVG stands by itself', async () => {
    const { stdout } = await runCli(['graph', name, '--format', 'svg']);
    for (const { id } of states) expect(stdout).toContain(`data-state="${id}"`);
    expect(stdout).toContain('<style>');
  });
});

it('graph is the connection machine in Mermaid, if nothing else is said', async () => {
  expect(await runCli(['graph'])).toEqual({
    code: 0,
    stdout: mermaid(chartOf(connectionMachine)),
    stderr: '',
  });
});
