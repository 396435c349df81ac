import { percentDecoded } from '../text/percent-decoded.ts';
import { isObject } from './json.ts';

/** Returns a key as a step of a JSON pointer (RFC 6901). */
export function pointerStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the keys of a JSON pointer such as `/choices/0`. The empty pointer has none. */
export function pointerKeys(pointer: string): string[] {
  return pointer.split('/').slice(1).map(keyOf);
}

/** Returns the value of a reference within the same document, such as `#/$defs/node`; undefined if there is none, and for any other reference. */
export function referenced(root: unknown, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  // A fragment is percent-encoded. It is decoded before the escapes of the pointer, as `%7E1` is one of them.
  return valueAt(root, reference.slice(2).split('/').map(percentDecoded).map(keyOf));
}

/** Returns the value at these keys; undefined if there is none. */
export function valueAt(value: unknown, keys: readonly string[]): unknown {
  let at = value;
  for (const key of keys) {
    if (!(Array.isArray(at) || isObject(at)) || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function keyOf(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~');
}
