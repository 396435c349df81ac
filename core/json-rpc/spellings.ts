import type { JsonObject } from '../contract/values/json/json.ts';

/**
 * Returns a function that finds a key of an object that differs from one of these names in case only; null if there is none. Decoders of Go
 * and others ignore case, so a counterpart would read a value that the gateway has not checked.
 */
export function otherSpelling(names: readonly string[]): (value: JsonObject) => { sent: string; name: string } | null {
  const exact: ReadonlySet<string> = new Set(names);
  const byFolded: ReadonlyMap<string, string> = new Map(names.map((name) => [folded(name), name]));
  return (value) => {
    for (const key in value) {
      const name = exact.has(key) || key.length > lengthMax ? undefined : byFolded.get(folded(key));
      if (name !== undefined) return { sent: key, name };
    }
    return null;
  };
}

/** No checked name is longer. */
const lengthMax = 64;

/** Upper case first: `ſ` and the Kelvin sign are letters that decoders take for `s` and `k`. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}
