import { DriverException } from '@mikro-orm/core';
import { isDatabaseAway, isTlsCode } from './is-database-away.ts';

/** The fields of a log line about a failure. A type and not an interface, so that it is a JsonObject. */
export type FailureFields = {
  readonly reason: string;
  readonly error: {
    readonly name: string;
    readonly code: string | null;
    readonly constraint: string | null;
    /** True if the database may be away; absent otherwise. */
    readonly databaseAway?: true;
  };
  /** Frames, one per line. Empty for values that are not errors, and for errors of the object store: their message names the cause. */
  readonly stack: string;
};

/**
 * Returns a failure in its form for the log. Messages of the database quote rows and parameters, so only their code, constraint
 * and location are included.
 */
export function failureFields(thrown: unknown): FailureFields {
  if (!(thrown instanceof Error)) return fieldsOfValue(thrown);
  const { code, constraint, severity } = thrown as { code?: unknown; constraint?: unknown; severity?: unknown };
  // Errors of prepared statements are those of the driver, which have the server's severity.
  const fromDatabase = thrown instanceof DriverException || (typeof severity === 'string' && typeof code === 'string');
  const isAway = isDatabaseAway(thrown);
  return {
    reason: fromDatabase ? databaseMessage(code, isAway, thrown.message) : (driverMessage(thrown.message) ?? thrown.message),
    error: {
      name: thrown.name,
      code: typeof code === 'string' ? code : null,
      constraint: typeof constraint === 'string' ? constraint : null,
      ...(isAway ? { databaseAway: true } : {}),
    },
    stack: thrown.name === 'ObjectStoreError' ? '' : framesOf(thrown),
  };
}

function framesOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames.slice(0, 12).join('\n');
}

/** Error numbers of PGlite's file system, which are WASI's and differ from those of the operating system. */
const wasiErrors: Readonly<Record<number, readonly [code: string, message: string]>> = {
  2: ['EACCES', 'permission denied in DATA_DIR'],
  19: ['EDQUOT', 'the disk quota of DATA_DIR is used up'],
  29: ['EIO', 'the disk of DATA_DIR failed'],
  51: ['ENOSPC', 'no space left on the disk of DATA_DIR'],
  69: ['EROFS', 'DATA_DIR is read-only'],
};

/** Describes a thrown value that is not an Error: PGlite's file system throws objects with a message or a number. */
function fieldsOfValue(thrown: unknown): FailureFields {
  const { name, message, code, errno } = (thrown ?? {}) as Record<string, unknown>;
  const known = name === 'ErrnoError' ? wasiErrors[Number(errno)] : undefined;
  if (known) return { reason: known[1], error: { name: 'ErrnoError', code: known[0], constraint: null }, stack: '' };
  const words = [message, code, errno === undefined ? undefined : `errno ${String(errno)}`].filter((each) => each !== undefined);
  const isObject = typeof thrown === 'object' && thrown !== null;
  return {
    reason: isObject ? words.map(String).join(', ') || 'an object without a message' : String(thrown),
    error: {
      name: typeof name === 'string' ? name : typeof thrown,
      code: typeof code === 'string' ? code : null,
      constraint: null,
    },
    stack: '',
  };
}

const databaseMessages: Readonly<Record<string, string>> = {
  '28000': 'the database rejects the user of DATABASE_URL, or its address',
  '28P01': 'the database rejects the password in DATABASE_URL',
  '3D000': 'the database that DATABASE_URL names does not exist',
  '42501': 'the user of DATABASE_URL lacks a right',
  '25006': 'the database is read-only, such as a standby',
  '53100': 'the disk of the database is full',
  '58030': 'the disk of the database is failing',
  '53300': 'the database has too many connections (max_connections, DB_POOL_SIZE)',
  '57014':
    'the database cancelled the statement. Check statement_timeout of its role, its load, and its locks (pg_stat_activity)',
  '55P03':
    'the database did not give a lock within the time limit of the control plane or of its role (lock_timeout). Check its locks (pg_stat_activity)',
  '25P03': 'the database ended the transaction because of idle_in_transaction_session_timeout',
  '25P04': 'the database ended the transaction because of transaction_timeout',
  '57P01': 'the database closed the connection because it stops',
  '57P03': 'the database is starting or stopping',
};

function databaseMessage(code: unknown, isAway: boolean, message: string): string {
  const parameter = /unsupported startup parameter: (\w+)/.exec(message)?.[1];
  if (parameter !== undefined) {
    return `the pooler in DATABASE_URL rejects a parameter of the connection (PgBouncer: ignore_startup_parameters = ${parameter})`;
  }
  if (/read-only file system/i.test(message)) return 'the disk of the database is read-only';
  const known = databaseMessages[String(code)];
  if (known !== undefined) return known;
  if (isTlsCode(String(code)))
    return `the connection to the database is not secure (${code}). Check its certificate, and the TLS parameters of DATABASE_URL`;
  if (!isAway) return 'the database rejected the statement';
  if (typeof code === 'string') return 'the database could not be reached';
  return driverMessage(message) ?? 'the database closed the connection';
}

/** Null for messages that are none of the time limits of the driver. */
function driverMessage(message: string): string | null {
  if (message.includes('Query read timeout'))
    return 'the database did not reply to a query in time. Check its load and its locks (pg_stat_activity)';
  return message.includes('timeout exceeded when trying to connect')
    ? 'no connection to the database was free in time, or it accepted none. Check its load, its locks (pg_stat_activity) and DB_POOL_SIZE'
    : null;
}
