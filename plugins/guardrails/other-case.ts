import type { JsonObject } from '../../core/contract/values/json/json.ts';

/** Any character but those of the names that formats have. */
const unusual = /[^a-z0-9_]/;

/**
 * Returns true if an object has one of these names in another case, such as `Content`. Servers in Go and C# accept it, and of two such names they read
 * the last. `names` are in lower case.
 */
export function inOtherCase(value: JsonObject, names: ReadonlySet<string>): boolean {
  for (const name in value) if (isInOtherCase(name, names)) return true;
  return false;
}

export function isInOtherCase(name: string, names: ReadonlySet<string>): boolean {
  return unusual.test(name) && names.has(folded(name));
}

/** The name in lower case, with the letters that Go reads as `k` and `s`. */
export function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}
