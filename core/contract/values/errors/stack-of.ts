import { reasonOf, toGatewayError } from './errors.ts';

/** Returns the stack of a caught value for a log line, with its message first. Null for values that are not errors. */
export function stackOf(thrown: unknown): string | null {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : null;
}

/** Returns the reason of a thrown value for a log line, and the stack of the exception that a GatewayError was made of. */
export function failureOf(thrown: unknown): { readonly reason: string; readonly stack: string | null } {
  return { reason: reasonOf(thrown), stack: stackOf(toGatewayError(thrown).cause ?? thrown) };
}
