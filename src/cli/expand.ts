/** `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}` in a configuration, as hosts write them for secrets. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;
const QUESTION = /\$\{input:/;

export interface Expanded<Value> {
  readonly value: Value;
  /** What could not be filled in. */
  readonly missing: string | undefined;
}

export function expanded<Value>(value: Value, env: NodeJS.ProcessEnv): Expanded<Value> {
  let missing: string | undefined;
  const fill = (text: string): string => {
    if (QUESTION.test(text)) missing ??= 'it asks for an input, which only an editor can give';
    return text.replace(VARIABLE, (_, name: string, otherwise: string | undefined) => {
      const found = env[name] ?? otherwise;
      if (found === undefined) missing ??= `the environment variable ${name} is not set`;
      return found ?? '';
    });
  };
  const walk = (part: unknown): unknown => {
    if (typeof part === 'string') return fill(part);
    if (Array.isArray(part)) return part.map(walk);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, walk(inner)]));
  };
  return { value: walk(value) as Value, missing };
}
