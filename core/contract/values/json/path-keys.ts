const segment = /\[\s*"([^"]*)"\s*\]|\[\s*'([^']*)'\s*\]|\[([^.[\]"']+)\]|([^.[\]]+)/g;

/**
 * Parses a path such as `tools[*].function.strict`, `a["b.c"]`, `messages[0].name` or `messages.0.name` into its keys. Null if it names no
 * key, or a bracket is not closed.
 */
export function pathKeys(path: string): string[] | null {
  const keys: string[] = [];
  const left = path.replace(segment, (_, double?: string, single?: string, index?: string, bare?: string) => {
    keys.push((double ?? single ?? index ?? bare) as string);
    return '';
  });
  return keys.length > 0 && /^\.*$/.test(left) ? keys : null;
}
