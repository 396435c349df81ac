const unstorable = /\u0000|\p{Surrogate}/u;

/** Returns true if PostgreSQL can store the value as JSON: without NUL and without half of a surrogate pair. */
export function isStorable(value: unknown): boolean {
  let found = false;
  JSON.stringify(value, (key, inner: unknown) => {
    found ||= unstorable.test(key) || (typeof inner === 'string' && unstorable.test(inner));
    return inner;
  });
  return !found;
}
