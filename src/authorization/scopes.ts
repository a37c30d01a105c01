/** Sets of OAuth scopes, written as RFC 6749 has it: separated by spaces. */

export function scopesOf(...texts: readonly (string | null | undefined)[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => text?.split(' ') ?? []).filter((scope) => scope !== ''));
}

export function scopeText(scopes: ReadonlySet<string>): string | undefined {
  return scopes.size === 0 ? undefined : [...scopes].join(' ');
}

export function union(...sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

export function covers(granted: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  return [...wanted].every((scope) => granted.has(scope));
}
