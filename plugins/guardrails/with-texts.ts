import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { notInBody } from './address-texts.ts';
import type { Path, TextPart } from './every-text.ts';

/**
 * Returns a copy of the body with each part replaced by the text of the same index. A changed number becomes a text. Throws Error for a changed text
 * of the address or of a file.
 */
export function withTexts(body: JsonObject, parts: readonly TextPart[], texts: readonly string[]): JsonObject {
  const changes = parts.flatMap(({ text, path, kind, encoded }, index) => {
    const next = texts[index];
    return next === undefined || next === text ? [] : [{ path, kind, next: encoded?.(next) ?? next }];
  });
  if (changes.some(({ path }) => path[0] === notInBody)) throw new Error('A text in the address or in a file cannot be changed');
  const copies = new Set<unknown>();
  let changed: unknown = body;
  for (const { path, kind, next } of changes) if (kind !== 'name') changed = changeAt(changed, path, () => next, copies);
  // Names change last, the deepest first: a name is part of the paths below it.
  for (const { path, names } of renamed(changes).sort((one, other) => other.path.length - one.path.length)) {
    const rename = ([name, one]: [string, unknown]): [string, unknown] => [names.get(name) ?? name, one];
    const renameAll = (holder: unknown) => Object.fromEntries(Object.entries(holder as JsonObject).map(rename));
    changed = changeAt(changed, path, renameAll, copies);
  }
  return changed as JsonObject;
}

/** An object with the new names of its members. */
interface Renamed {
  readonly path: Path;
  readonly names: Map<string, string>;
}

function renamed(changes: readonly { readonly path: Path; readonly kind: TextPart['kind']; readonly next: string }[]): Renamed[] {
  const holders = new Map<string, Renamed>();
  for (const { path, kind, next } of changes) {
    if (kind !== 'name') continue;
    const own = path.slice(0, -1);
    const key = JSON.stringify(own);
    const holder = holders.get(key) ?? { path: own, names: new Map() };
    holders.set(key, holder);
    holder.names.set(path.at(-1) as string, next);
  }
  return [...holders.values()];
}

/** Changes the value at a path. Each object and array is copied once into `copies`: a copy for every change would take quadratic time. */
function changeAt(value: unknown, path: Path, change: (value: unknown) => unknown, copies: Set<unknown>, at = 0): unknown {
  if (at === path.length) return change(value);
  const key = path[at] as string | number;
  const copy = copies.has(value) ? value : Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
  copies.add(copy);
  (copy as JsonObject)[key] = changeAt((copy as JsonObject)[key], path, change, copies, at + 1);
  return copy;
}
