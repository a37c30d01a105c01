/** What a host passes to a server's process as a secret, and the server might print. */
import type { StdioDescription } from './stdio.ts';

/** `--key=value`. */
const OPTION = /^--?[^=]+=(.+)$/s;
/** `NAME=value`, `Name: value`; not `C:\file`, and not `https://…`. */
const NAMED = /^(?!\w+:\/\/)[\w.-]{2,}\s*[=:]\s*(.+)$/s;
const AUTHORIZATION = /^(?:bearer|basic|token)\s+(.+)$/is;
/** Whose next argument is one. */
const ANNOUNCED =
  /^(-H|--?(?!no-)([\w-]+-)?(api)?(key|token|secret|pass|password|auth|authorization|header|credential)s?)$/i;
/** Shorter ones would blot out half of what is said. */
const SHORTEST = 4;

export function passedSecrets({ env = {}, args = [], secrets = [] }: StdioDescription): string[] {
  const inArgs = args.flatMap((arg, index) => {
    const announced = ANNOUNCED.test(args[index - 1] ?? '');
    return announced ? [arg, ...secretsIn(arg)] : [...secretsIn(arg)];
  });
  return [...new Set([...secrets, ...Object.values(env), ...inArgs])];
}

/** A value, and what it has in it: the token alone may be said, and so may the header of `--header=Name: value`. */
function* secretsIn(text: string): Generator<string> {
  if (URL.canParse(text)) {
    const { password, searchParams } = new URL(text);
    yield password;
    yield* searchParams.values();
  }
  const value = (OPTION.exec(text) ?? NAMED.exec(text) ?? AUTHORIZATION.exec(text))?.[1]?.trim();
  if (value === undefined) return;
  yield value;
  yield* secretsIn(value);
}

/** The longest first: one may be part of another. */
export function redacted(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
    .reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text);
}
