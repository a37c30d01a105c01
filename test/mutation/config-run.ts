/**
 * One share of the mutants of the machines' configs, in a process of its own. Prints one JSON object: how many there
 * were, and the names of those that nothing noticed. Usage: config-run.ts <share> <shares>
 */
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { type ConfigMutant, configMutants } from './config-mutants.ts';
import { whyNotTheConnection, whyNotTheOperation } from './machine-checks.ts';

export interface ConfigRun {
  readonly total: number;
  readonly survivors: readonly string[];
}

const [share, shares] = process.argv.slice(2).map(Number) as [number, number];

async function run<M>(
  mutants: readonly ConfigMutant<M>[],
  whyNot: (machine: M) => Promise<string | undefined>,
): Promise<ConfigRun> {
  const survivors: string[] = [];
  const mine = mutants.filter((_, index) => index % shares === share);
  for (const { name, make } of mine) if ((await whyNot(make())) === undefined) survivors.push(name);
  return { total: mine.length, survivors };
}

const runs = [
  await run(configMutants(connectionMachine), whyNotTheConnection),
  await run(configMutants(operationMachine), whyNotTheOperation),
];
const result: ConfigRun = {
  total: runs.reduce((sum, { total }) => sum + total, 0),
  survivors: runs.flatMap(({ survivors }) => survivors),
};
console.log(JSON.stringify(result));
