import { DriverException } from '@mikro-orm/core';

/** Fields of a failure that may be logged. */
export interface Cause {
  readonly name: string;
  readonly message: string;
  readonly code: string | null;
  readonly constraint: string | null;
  readonly at: readonly string[];
}

/**
 * Returns an error in its form for the log. Messages of the database quote rows and parameters, so only their code, constraint
 * and location are included.
 */
export function causeOf(thrown: unknown): Cause {
  if (!(thrown instanceof Error)) return causeOfValue(thrown);
  const { code, constraint } = thrown as { code?: unknown; constraint?: unknown };
  const fromDatabase = thrown instanceof DriverException;
  return {
    name: thrown.name,
    message: fromDatabase ? databaseMessage(code) : thrown.message,
    code: typeof code === 'string' ? code : null,
    constraint: typeof constraint === 'string' ? constraint : null,
    at: (thrown.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 12)
      .map((line) => line.trim()),
  };
}

/** Error numbers of PGlite's file system, which are WASI's and differ from those of the operating system. */
const wasiErrors: Readonly<Record<number, readonly [code: string, message: string]>> = {
  2: ['EACCES', 'permission denied in the data directory'],
  19: ['EDQUOT', 'the disk quota of the data directory is used up'],
  29: ['EIO', 'the disk of the data directory failed'],
  51: ['ENOSPC', 'no space left on the disk of the data directory'],
  69: ['EROFS', 'the data directory is read-only'],
};

/** Describes a thrown value that is not an Error: PGlite's file system throws objects with a message or a number. */
function causeOfValue(thrown: unknown): Cause {
  const { name, message, code, errno } = (thrown ?? {}) as Record<string, unknown>;
  const known = name === 'ErrnoError' ? wasiErrors[Number(errno)] : undefined;
  if (known) return { name: 'ErrnoError', message: known[1], code: known[0], constraint: null, at: [] };
  const words = [message, code, errno === undefined ? undefined : `errno ${String(errno)}`].filter((each) => each !== undefined);
  const isObject = typeof thrown === 'object' && thrown !== null;
  return {
    name: typeof name === 'string' ? name : typeof thrown,
    message: isObject ? words.map(String).join(', ') || 'an object without a message' : String(thrown),
    code: typeof code === 'string' ? code : null,
    constraint: null,
    at: [],
  };
}

function databaseMessage(code: unknown): string {
  if (code === '53100') return 'the disk of the database is full';
  return 'the database rejected the statement or could not be reached';
}
