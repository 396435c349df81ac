import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type Database, type DatabaseSettings, openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { removeAfterRun, runDirectory } from '../../support/runner/test-run.ts';
import { copyEmptyDatabase } from './pgdata-template.ts';
import { type DatabaseName, newReadyDatabase } from './test-database.ts';

/** An open database with all tables and no rows. */
export interface SharedDatabase {
  readonly database: Database;
  /** `DATABASE_URL` of a database on the test server; null for the embedded database. */
  readonly url: string | null;
}

/** Databases that no control plane of this process uses now. */
const idle: Record<DatabaseName, SharedDatabase[]> = { PGlite: [], PostgreSQL: [] };

/**
 * Returns a database that an earlier test file of this process has returned, or a new one. Opening takes up to two seconds of CPU,
 * emptying a few milliseconds.
 */
export async function borrowDatabase(name: DatabaseName): Promise<SharedDatabase> {
  for (let shared = idle[name].pop(); shared; shared = idle[name].pop()) {
    try {
      await empty(shared.database);
      return shared;
    } catch {
      // A transaction of the earlier test file still holds a lock. That database is not used again.
    }
  }
  return name === 'PGlite' ? openEmbedded() : openOnServer();
}

/** Makes the database available to the next control plane of this process. Its tables must be as the migrations made them. */
export function returnDatabase(name: DatabaseName, shared: SharedDatabase): void {
  idle[name].push(shared);
}

/**
 * Deletes the rows, which takes a tenth of the CPU of truncating every table, and restarts the sequences. Tables and partitions without
 * a page have never had a row.
 */
async function empty(database: Database): Promise<void> {
  await database.em().transactional(async (tx) => {
    // A transaction that an earlier test file left open may hold a lock.
    await tx.execute("set local lock_timeout = '2s'");
    // Skips foreign keys and the triggers that protect the audit trail.
    await tx.execute('set local session_replication_role = replica');
    await tx.execute(`do $$ declare name text; begin
      for name in select quote_ident(relname) from pg_class where relnamespace = 'public'::regnamespace
        and relkind = 'r' and relname <> 'migrations' and pg_relation_size(oid) > 0 loop
        execute 'delete from ' || name;
      end loop;
      for name in select quote_ident(sequencename) from pg_sequences where schemaname = 'public' loop
        execute 'alter sequence ' || name || ' restart';
      end loop;
    end $$`);
    await tx.execute('insert into change_counter (id, revision) values (1, 0)');
  });
}

async function openEmbedded(): Promise<SharedDatabase> {
  const dataDir = await mkdtemp(join(runDirectory(), 'embedded-'));
  await copyEmptyDatabase(dataDir);
  return { database: await open({ dbPoolSize: 1, dataDir, databaseUrl: null }), url: null };
}

async function openOnServer(): Promise<SharedDatabase> {
  const { name, url } = await newReadyDatabase();
  removeAfterRun('databases', name);
  // Large enough for every test; the pool opens a connection when it needs one.
  return { database: await open({ dbPoolSize: 20, dataDir: '', databaseUrl: url }), url };
}

/**
 * The product's limit of 2 s bounds how long a hanging database holds a request. This database does not hang, but if many processes share
 * two cores, a process may wait for the core longer than that. Tests of the limit start their control plane with a database of their own.
 */
const timeoutMs = 60_000;
const open = (settings: DatabaseSettings): Promise<Database> =>
  openDatabase(settings, { entities, migrations }, newMemoryLog(), { timeoutMs });
