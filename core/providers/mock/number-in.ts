/** Returns a number of a body, also one written as text; null for other values. `Number` would call `toString` of an object of the client. */
export function numberIn(value: unknown): number | null {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : null;
}
