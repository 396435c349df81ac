import { DriverException } from '@mikro-orm/core';

/** What the log may know of a failure. */
export interface Cause {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly constraint: string | null;
  readonly at: readonly string[];
}

/**
 * An error for the log. Messages of the database quote rows and parameters, so of those only the code, the constraint and the
 * place are kept.
 */
export function causeOf(thrown: unknown): Cause {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: String(thrown), code: null, constraint: null, at: [] };
  const { code, constraint } = thrown as { code?: unknown; constraint?: unknown };
  const fromDatabase = thrown instanceof DriverException;
  return {
    name: thrown.name,
    message: fromDatabase ? 'the database refused the statement or could not be asked' : thrown.message,
    code: typeof code === 'string' ? code : null,
    constraint: typeof constraint === 'string' ? constraint : null,
    at: (thrown.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 12)
      .map((line) => line.trim()),
  };
}
