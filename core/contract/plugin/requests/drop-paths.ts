import { isObject } from '../../values/json/json.ts';
import { pathKeys } from '../../values/json/path-keys.ts';

/** The paths that begin with the same keys. */
interface Drops {
  /** True if a path ends here. */
  isWhole: boolean;
  /** By the next key: the name of a member, the index of an element, or `*`. */
  readonly below: Map<string, Drops>;
}

const known = new WeakMap<readonly string[], Drops>();

/**
 * Removes the values at these paths from `value`, which it changes. An index counts the elements before any is removed, and `*` stands for each
 * element. All paths are followed together: following one after the other would take the product of their number and the size of the value.
 */
export function dropPaths(value: unknown, paths: readonly string[]): void {
  let drops = known.get(paths);
  if (drops === undefined) {
    drops = compile(paths);
    known.set(paths, drops);
  }
  dropFrom(value, drops);
}

function compile(paths: readonly string[]): Drops {
  const root: Drops = { isWhole: false, below: new Map() };
  for (const path of paths) {
    let at = root;
    for (const key of pathKeys(path) ?? []) {
      // `list[ 1 ]` names the element 1.
      const name = /^\s*\d+\s*$/.test(key) ? key.trim() : key;
      const next = at.below.get(name) ?? { isWhole: false, below: new Map() };
      at.below.set(name, next);
      at = next;
    }
    at.isWhole = true;
  }
  return root;
}

function dropFrom(value: unknown, drops: Drops): void {
  if (Array.isArray(value)) return dropFromList(value, drops);
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const own = drops.below.get(key);
    if (own?.isWhole) delete value[key];
    else if (own !== undefined) dropFrom(value[key], own);
  }
}

function dropFromList(list: unknown[], { below }: Drops): void {
  const each = below.get('*');
  const hasIndexes = below.size > (each === undefined ? 0 : 1);
  let kept = 0;
  for (const [index, item] of list.entries()) {
    const own = hasIndexes ? below.get(String(index)) : undefined;
    if (own?.isWhole) continue;
    if (each !== undefined) dropFrom(item, each);
    if (own !== undefined) dropFrom(item, own);
    list[kept++] = item;
  }
  list.length = kept;
}
