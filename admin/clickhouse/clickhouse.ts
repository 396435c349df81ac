import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';

/** The database that ANALYTICS_URL names. Every method rejects with ClickHouseError. */
export interface ClickHouse {
  /** Returns the rows of a query. `{name:Type}` in the text stands for a parameter. */
  query<Row>(text: string, parameters?: Readonly<Record<string, unknown>>): Promise<Row[]>;
  /** Runs a statement without a result. */
  run(text: string, parameters?: Readonly<Record<string, unknown>>): Promise<void>;
  /** Inserts rows, one JSON object per line. Resolves when they are stored. */
  insert(table: string, lines: string): Promise<void>;
  close(): Promise<void>;
}

/** ClickHouse did not reply, or rejected a statement. The message contains neither the URL nor a value of a row. */
export class ClickHouseError extends Error {
  override readonly name = 'ClickHouseError';
  /** True if the same statement may succeed later. */
  readonly isTemporary: boolean;

  /** True if the statement exceeded a limit of time or memory. If it reads many rows, it will do so again. */
  readonly isLate: boolean;

  constructor(message: string, isTemporary: boolean, isLate = false) {
    super(message);
    this.isTemporary = isTemporary;
    this.isLate = isLate;
  }
}

/** Milliseconds that one statement may take. */
const timeoutMs = 10_000;
const connectionsMax = 16;

/** Returns a client of the database at this URL, `http(s)://user:password@host:port/database`. Opens no connection. */
export function createClickHouse(url: string): ClickHouse {
  const { ClickHouseLogLevel, createClient } = library();
  const { protocol, host, username, password, pathname } = new URL(url);
  const client = createClient({
    url: `${protocol}//${host}`,
    username: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)) || 'default',
    application: 'svc-gateway',
    // Log entries of the client repeat rows and statements.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: timeoutMs,
    max_open_connections: connectionsMax,
    // Long lists in filters do not fit into a URL.
    use_multipart_params_auto: true,
    clickhouse_settings: {
      date_time_input_format: 'best_effort',
      output_format_json_quote_64bit_integers: 0,
      // Columns of results have the names of columns that they are computed from.
      prefer_column_name_to_alias: 1,
      max_execution_time: timeoutMs / 1_000,
      // An error after the first byte of a result would be part of the result.
      wait_end_of_query: 1,
    },
  });
  return {
    query: (query, query_params = {}) =>
      rejecting(async () => (await client.query({ query, query_params, format: 'JSONEachRow' })).json()),
    run: (query, query_params = {}) => rejecting(async () => void (await client.command({ query, query_params }))),
    insert: (table, lines) =>
      rejecting(async () => {
        const values = Readable.from([Buffer.from(lines)], { objectMode: false });
        // `client.insert` would parse and encode each row.
        const { stream } = await client.exec({ query: `insert into ${table} format JSONEachRow`, values });
        stream.resume();
        await finished(stream);
      }),
    close: () => client.close(),
  };
}

/** Loaded only if ANALYTICS_URL is set. */
function library(): typeof import('@clickhouse/client') {
  return createRequire(import.meta.url)('@clickhouse/client');
}

async function rejecting<Result>(work: () => Promise<unknown>): Promise<Result> {
  try {
    return (await work()) as Result;
  } catch (error) {
    throw toClickHouseError(error);
  }
}

/** Errors of the server that pass, or that operators correct without a new version. */
const temporaryTypes: ReadonlySet<string> = new Set([
  ...['TIMEOUT_EXCEEDED', 'TOO_SLOW', 'MEMORY_LIMIT_EXCEEDED', 'TOO_MANY_SIMULTANEOUS_QUERIES', 'TOO_MANY_PARTS'],
  ...['AUTHENTICATION_FAILED', 'REQUIRED_PASSWORD', 'ACCESS_DENIED', 'UNKNOWN_DATABASE', 'UNKNOWN_TABLE', 'TABLE_IS_READ_ONLY'],
]);

const lateTypes: ReadonlySet<string> = new Set(['TIMEOUT_EXCEEDED', 'TOO_SLOW', 'MEMORY_LIMIT_EXCEEDED']);

/** Keeps the code and the name of an error of the server. Its text repeats parts of rows and statements. */
function toClickHouseError(error: unknown): ClickHouseError {
  const { code, type } = error as { code?: unknown; type?: unknown };
  if (typeof type === 'string')
    return new ClickHouseError(
      `ClickHouse rejected a statement: ${type} (${String(code)})`,
      temporaryTypes.has(type),
      lateTypes.has(type),
    );
  const reason = typeof code === 'string' ? code : messageOf(error);
  // The client has the same limit as the server, and sees its end first at times.
  return new ClickHouseError(`ClickHouse does not reply: ${reason}`, true, reason === 'Timeout error.');
}
