import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';

/**
 * Returns the target of a local reference (`#`, `#/$defs/node`, RFC 6901 in a fragment); undefined if there is none, and for any
 * other reference.
 */
export function resolvePointer(root: JsonObject, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const key = unescapeStep(step);
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function unescapeStep(step: string): string {
  const plain = step.replace(/~1/g, '/').replace(/~0/g, '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}
