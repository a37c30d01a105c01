/** What a host passes to a server's process as a secret, and the server might print. */
import type { StdioDescription } from './stdio.ts';

/** `--key=value`, `NAME=value`, `Name: value`; not `C:\file`. */
const NAMED = /^[\w-]{2,}\s*[=:]\s*(.+)$/s;
/** Whose next argument is one. */
const ANNOUNCED = /^(-H|--?[\w-]*(key|token|secret|pass|auth|header|cred)[\w-]*)$/i;
/** Shorter ones would blot out half of what is said. */
const SHORTEST = 4;

export function passedSecrets({ env = {}, args = [] }: StdioDescription): string[] {
  const values = args.flatMap((arg, index) => {
    const named = NAMED.exec(arg)?.[1] ?? '';
    const announced = ANNOUNCED.test(args[index - 1] ?? '') ? arg : '';
    // `Authorization: Bearer token`: also the token alone.
    return [named, named.split(/\s/).at(-1) ?? '', announced];
  });
  return [...new Set([...Object.values(env), ...values])];
}

/** The longest first: one may be part of another. */
export function redacted(text: string, secrets: readonly string[]): string {
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
    .reduce((left, secret) => left.replaceAll(secret, '[redacted]'), text);
}
