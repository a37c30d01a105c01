/** What holds between the two machines, as sentences, each checked for everything that can be judged or demanded. */
import { DEMANDS, demandIn, demandsFromJudging, type Machines, nameOf, OWNERSHIPS } from './demand-graph.ts';
import type { Property } from './property.ts';

/** The first of these demands that is not answered so, in words. */
const noDemand = (
  machines: Machines,
  ownership: (typeof OWNERSHIPS)[number],
  demands: Iterable<(typeof DEMANDS)[number]>,
  answer: 'accepted' | 'refused',
): string | undefined => {
  for (const operation of demands) {
    const wrong = demandIn(machines, ownership, operation).find(
      ({ isAccepted }) => isAccepted !== (answer === 'accepted'),
    );
    if (wrong !== undefined) return `${ownership}: ${nameOf(operation)} is not ${answer} in ${wrong.state}`;
  }
  return undefined;
};

export const DEMAND_PROPERTIES: readonly Property<Machines>[] = [
  {
    name: 'Every demand of an operation that was judged is accepted by an owned connection at rest.',
    counterexample: (machines) =>
      noDemand(machines, 'supervisor', demandsFromJudging(machines, 'supervisor').values(), 'accepted'),
  },
  {
    name: 'A demand that no judged operation makes changes nothing.',
    counterexample: (machines) => {
      const made = demandsFromJudging(machines, 'supervisor');
      const others = DEMANDS.filter((operation) => !made.has(nameOf(operation)));
      return noDemand(machines, 'supervisor', others, 'refused');
    },
  },
  {
    name: 'No demand changes anything of a connection that belongs to its caller.',
    counterexample: (machines) =>
      OWNERSHIPS.filter((ownership) => ownership !== 'supervisor')
        .map((ownership) => noDemand(machines, ownership, DEMANDS, 'refused'))
        .find((wrong) => wrong !== undefined),
  },
  {
    name: 'On a connection that belongs to its caller, only an operation that was never sent makes a demand.',
    counterexample: (machines) =>
      OWNERSHIPS.filter((ownership) => ownership !== 'supervisor')
        .flatMap((ownership) => [...demandsFromJudging(machines, ownership).values()])
        .filter(({ execution }) => execution !== 'unsent')
        .map(nameOf)[0],
  },
];
