/** `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}` in a configuration, as hosts write them for secrets. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;
const QUESTION = /\$\{input:/;
const NESTED = /\$\{(?:env:)?[A-Za-z_]\w*:-[^}]*\$\{/;

export interface Expanded<Value> {
  readonly value: Value;
  /** What was filled in from the environment: it may be a secret, wherever it stands. */
  readonly filled: readonly string[];
  /** What could not be filled in. */
  readonly missing: string | undefined;
}

export function expanded<Value>(value: Value, env: NodeJS.ProcessEnv): Expanded<Value> {
  const filled: string[] = [];
  let missing: string | undefined;
  const fill = (text: string): string => {
    if (QUESTION.test(text)) missing ??= 'it asks for an input, which only an editor can give';
    if (NESTED.test(text)) missing ??= 'a variable cannot stand in what another has for a default';
    return text.replace(VARIABLE, (_, name: string, otherwise: string | undefined) => {
      const found = env[name];
      // As in a shell, the default is also for a variable that is empty.
      if (otherwise !== undefined && !found) return otherwise;
      if (found === undefined) missing ??= `the environment variable ${name} is not set`;
      else filled.push(found);
      return found ?? '';
    });
  };
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return fill(part);
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, walk(inner)]));
  };
  return { value: walk(value) as Value, filled, missing };
}
