import { messageOf } from '../contract/values/errors/message-of.ts';

/** Throws an Error if an object cannot be sent as JSON: it has a BigInt or a cycle. Objects nested deeper than the stack pass; sending them is an error of its own. */
export function requireJson(name: string, value: object): void {
  try {
    if (isJson(value, new Set())) return;
  } catch {
    return;
  }
  try {
    JSON.stringify(value);
  } catch (thrown) {
    throw new Error(`${name}: not JSON: ${messageOf(thrown)}`);
  }
}

/** False for a BigInt and a cycle. Takes less time than writing the JSON, and no memory of its size. */
function isJson(value: unknown, around: Set<object>): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'bigint';
  if (around.has(value)) return false;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return true;
  around.add(value);
  for (const part of Array.isArray(value) ? value : Object.values(value)) if (!isJson(part, around)) return false;
  around.delete(value);
  return true;
}
