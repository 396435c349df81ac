import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { dataDir as initialFiles } from '@electric-sql/pglite-prepopulatedfs';

/** The thread that owns the embedded database: see `embedded-database.ts`. It runs one statement after another, in the order of the messages. */

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** Parameters of the server, after those that PGlite needs. */
  readonly startParams: readonly string[];
}

/** A statement, or the request to close the database. */
export type ToThread = { readonly id: number; readonly sql: string; readonly values: readonly unknown[] } | 'close';

export type FromThread =
  | 'ready'
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly message: string; readonly fields: Readonly<Record<string, string | number>> };

export interface Result {
  readonly rows: readonly unknown[];
  readonly affectedRows?: number;
}

const port = parentPort;
if (!port) throw new Error('this module runs in a thread');
const { dataDir, startParams } = workerData as EmbeddedOptions;
const asText = (text: string): string => text;
if (!existsSync(join(dataDir, 'PG_VERSION'))) await createFiles();
const database = await PGlite.create({
  dataDir,
  startParams: [...PGlite.defaultStartParams, ...startParams],
  // The ORM reads date, timestamp, timestamptz and interval from their text.
  parsers: { 1082: asText, 1114: asText, 1184: asText, 1186: asText },
});
const send = (message: FromThread): void => port.postMessage(message);
port.on('message', async (message: ToThread) => {
  if (message === 'close') {
    await database.close();
    return port.close();
  }
  const { id, sql, values } = message;
  try {
    const { rows, affectedRows } = await run(sql, values);
    send({ id, result: { rows, affectedRows } });
  } catch (error) {
    if (isInternal(error)) await requireWorking();
    send({ id, message: (error as Error).message, fields: fieldsOf(error) });
  }
});
send('ready');

/**
 * Unpacks the files of a new database into the empty `dataDir`. That takes a third of the time and half of the memory of `initdb`. A process that
 * is killed meanwhile leaves `dataDir` empty.
 */
async function createFiles(): Promise<void> {
  if (readdirSync(dataDir).length > 0) throw new Error('the folder has files, but no PG_VERSION');
  const unpacked = `${dataDir}.new`;
  rmSync(unpacked, { recursive: true, force: true });
  mkdirSync(unpacked, { mode: 0o700 });
  const fresh = await PGlite.create({ dataDir: unpacked, loadDataDir: await initialFiles() });
  await fresh.close();
  try {
    renameSync(unpacked, dataDir);
  } catch (error) {
    // `dataDir` is the root of a mounted volume.
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
    cpSync(unpacked, dataDir, { recursive: true });
    rmSync(unpacked, { recursive: true });
  }
}

/**
 * Sends a statement without parameters as one message instead of five. The ORM writes values into its statements, so this concerns all of
 * them. The result of several statements is that of the last one.
 */
async function run(sql: string, values: readonly unknown[]): Promise<Result> {
  if (values.length > 0) return database.query(sql, [...values], { rowMode: 'object' });
  return (await database.exec(sql, { rowMode: 'object' })).at(-1) ?? { rows: [] };
}

/** Errors of class XX, and errors of the WebAssembly code itself, which have no code. */
function isInternal(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return typeof code !== 'string' || code.startsWith('XX');
}

/**
 * Ends the thread if no statement works. PostgreSQL restarts itself after an error while it writes its log; PGlite continues in
 * a state in which every statement fails.
 */
async function requireWorking(): Promise<void> {
  const failure = await database.query('select 1').then(
    () => null,
    (error: unknown) => error as Error & { readonly code?: string },
  );
  const isInFailedTransaction = failure?.code === '25P02';
  if (failure && !isInFailedTransaction) throw new Error(`no statement works: ${failure.message}`);
}

/** The fields of PostgreSQL, such as `code` and `constraint`. PGlite adds the statement and its values, which contain secrets. */
function fieldsOf(error: unknown): Record<string, string | number> {
  const fields = Object.entries(error as object).filter(
    ([name, value]) => name !== 'query' && (typeof value === 'string' || typeof value === 'number'),
  );
  return Object.fromEntries(fields);
}
