/** Returns the stack of a caught value for a log line, with its message first. Null for values that are not errors. */
export function stackOf(thrown: unknown): string | null {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : null;
}
