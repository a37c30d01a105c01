import type { Survivor } from './stryker-result.ts';

/** A mutant that survives and may, and why. Named by what it changes, so that it stays found when lines move. */
export interface Excuse extends Pick<Survivor, 'file' | 'mutant'> {
  readonly reason: string;
}

export const SURVIVORS: readonly Excuse[] = [
  {
    file: 'machines/connection.machine.ts',
    mutant: 'StringLiteral: \'unrecognised\' → ""',
    reason: 'For the compiler: a loss and a suspicion always have a cause.',
  },
  {
    file: 'machines/connection.machine.ts',
    mutant: "ConditionalExpression: context.ownership === 'supervisor' → true",
    reason: 'The transition before it has taken the caller-owned ones.',
  },
  {
    file: 'machines/connection.machine.ts',
    mutant: "ConditionalExpression: event.type === 'demand' → true",
    reason: 'For the compiler: the guard stands at `demand` only.',
  },
  {
    file: 'machines/connection.machine.ts',
    mutant: "ConditionalExpression: 'generation' in event → true",
    reason: 'For the compiler: the guard stands at events that name one.',
  },
  {
    file: 'machines/connection.machine.ts',
    mutant: "ConditionalExpression: event.type === 'suspected' → true",
    reason: 'For the compiler: the guard stands at `suspected` only.',
  },
  {
    file: 'machines/connection.machine.ts',
    mutant: 'ConditionalExpression: context.retryAfterMs === 0 → true',
    reason: 'Attempts are given back where what the server asked for is forgotten too.',
  },
  {
    file: 'src/evidence/error-shape.ts',
    mutant: "ConditionalExpression: raw === '' → true",
    reason: 'No error has both a body of its own and the prefix of SDK v1.',
  },
  {
    file: 'src/evidence/error-shape.ts',
    mutant: "ConditionalExpression: !raw.startsWith('{') → false",
    reason: 'Redundant: what is no JSON is refused by the parser a line later.',
  },
  {
    file: 'src/evidence/error-shape.ts',
    mutant: 'StringLiteral: \'{\' → ""',
    reason: 'Redundant: what is no JSON is refused by the parser a line later.',
  },
  {
    file: 'src/evidence/error-shape.ts',
    mutant: 'BlockStatement: { return undefined; } → {}',
    reason: 'Redundant: what is no JSON is refused by the parser a line later.',
  },
  {
    file: 'src/evidence/hints.ts',
    mutant: "ConditionalExpression: name === 'SseError' → false",
    reason: 'The SDK’s class is found by its own name as well.',
  },
  {
    file: 'src/evidence/http.ts',
    mutant: 'StringLiteral: \'\' → "Stryker was here!"',
    reason: 'No answer of the SDK has an empty message.',
  },
];
