/** `mcp-steward watch`: what becomes of the connections, until Ctrl+C. A table, or lines where there is no terminal. */
import { createLogUpdate } from 'log-update';
import { type Step, steps } from '../inspect/steps.ts';
import { inspectionOf } from '../inspection.ts';
import type { Supervisor } from '../supervisor.ts';
import type { Arguments } from './arguments.ts';
import { readServers } from './config.ts';
import { untilInterrupted } from './interrupt.ts';
import { codeOf, supervise } from './supervise.ts';
import { lineOf, table } from './watch-table.ts';

const REDRAW_MS = 250;
const LATEST = 8;

export async function watch({ options }: Arguments): Promise<number> {
  const { supervisor, connect } = supervise(await readServers(options.config));
  const print = (line: string) => process.stdout.write(`${line}\n`);
  const end = options.json
    ? show(supervisor, (step) => print(JSON.stringify(step)))
    : isTerminal()
      ? showTable(supervisor)
      : showTurns(supervisor, (step) => print(lineOf(step)));
  connect();
  await untilInterrupted();
  end();
  const code = codeOf(supervisor);
  await supervisor.close();
  return code;
}

function isTerminal(): boolean {
  return process.stdout.isTTY && process.env.TERM !== 'dumb';
}

/** Returns how to stop. What changed nothing is not told. */
function show(supervisor: Supervisor, tell: (step: Step) => void): () => void {
  return inspectionOf(supervisor).add(
    steps((step) => {
      if (!step.ignored) tell(step);
    }),
  );
}

/** For people: a connection that goes from one state to another, not each heartbeat. */
function showTurns(supervisor: Supervisor, tell: (step: Step) => void): () => void {
  const stateOf = (place: string) => place.split('.')[0];
  return show(supervisor, (step) => {
    if (step.path.some((place) => stateOf(place) !== stateOf(step.from))) tell(step);
  });
}

function showTable(supervisor: Supervisor): () => void {
  const screen = createLogUpdate(process.stdout);
  const latest: string[] = [];
  const stop = showTurns(supervisor, (step) => {
    latest.push(lineOf(step));
    if (latest.length > LATEST) latest.shift();
  });
  const draw = () => {
    // Some terminals do not say how large they are.
    const { columns, rows } = process.stdout;
    screen(table([...supervisor.connections.values()], latest, columns || 80, rows || 24));
  };
  draw();
  const timer = setInterval(draw, REDRAW_MS);
  return () => {
    stop();
    clearInterval(timer);
    draw();
    screen.done();
  };
}
