/** Maximum length of the scopes of a connection. MCP servers name them, so they are bounded. */
const scopesLengthMax = 4_096;

/** Returns all scopes of several lists, separated by spaces, or the first list if that would be too long. Null if all lists are empty. */
export function allScopes(...lists: readonly (string | null | undefined)[]): string | null {
  const all = new Set(lists.flatMap((list) => (list ?? '').split(' ')).filter((scope) => scope !== ''));
  const joined = [...all].join(' ');
  return joined === '' || joined.length > scopesLengthMax ? (lists.find((list) => list) ?? null) : joined;
}

/** True if `list` has every scope of `wanted`. */
export function hasScopes(list: string | null, wanted: string): boolean {
  const known = new Set((list ?? '').split(' '));
  return wanted.split(' ').every((scope) => known.has(scope));
}
