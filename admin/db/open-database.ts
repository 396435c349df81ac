import type { EventEmitter } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { EntityMetadata, EntitySchema, MigrationObject } from '@mikro-orm/core';
import { Migrator } from '@mikro-orm/migrations';
import type { EntityManager, MikroORM, Options } from '@mikro-orm/postgresql';
import type { Settings } from '../../config/settings.ts';
import type { Log } from '../../core/contract/plugin/plugin.ts';
import { isUuid } from '../../core/contract/values/text/uuid.ts';
import { StartError } from '../start-error.ts';
import { optionsOfUrl, requiresChannelBinding } from './database-url.ts';
import { type EmbeddedDatabase, fullDiskOf, openEmbeddedDatabase } from './embedded-database.ts';
import { guardPool } from './guard-pool.ts';
import { interruptAutovacuum } from './interrupt-autovacuum.ts';
import { joinBegin, type TransactionLimits } from './join-begin.ts';
import { joinSession } from './join-session.ts';
import { lockDirectory } from './lock-directory.ts';
import { type AskPrepared, createAskPrepared } from './prepared.ts';
import { readPasswordAgain } from './read-password-again.ts';
import { refuseConnections } from './refuse-connections.ts';
import { requireChannelBinding } from './require-channel-binding.ts';
import { applyRowLevelSecurity, type TenantSession } from './row-level-security.ts';
import { liftTimeLimits, migrationLockWaitMs, patiently, runMigrations, withoutTimeLimits } from './run-migrations.ts';
import { takeTurns } from './tenant-turns.ts';

export type { EntityManager };

/** The store of the control plane. */
export interface Database {
  /** Returns a fresh unit of work on all organisations, for gateways, jobs and authentication. */
  em(): EntityManager;
  /**
   * Returns a fresh unit of work limited to the rows of one organisation, whatever its queries select; one per request. Throws if
   * the id is not a UUID.
   */
  emOf(organisationId: string): EntityManager;
  /** Runs a statement on all organisations, as a prepared statement if the database supports them. */
  readonly ask: AskPrepared;
  close(): Promise<void>;
}

/** Entities and migrations of the database, computed by `admin/tables.ts`. */
export interface Tables {
  readonly entities: readonly EntitySchema[];
  /** Oldest first. */
  readonly migrations: readonly MigrationObject[];
}

export type DatabaseSettings = Pick<Settings, 'databaseUrl' | 'dbPoolSize' | 'dataDir'> &
  Partial<Pick<Settings, 'databaseUrlFile'>>;

/**
 * Opens PostgreSQL if `databaseUrl` is set, else the embedded database in `dataDir/pgdata`, and runs its migrations. Several
 * processes may do this at the same time on one PostgreSQL. The embedded database has one process at a time; a second one waits,
 * then fails. Rejects if the database is unreachable. `hasQueryTimeout` is false for commands whose statements take long.
 * `timeoutMs` limits a query, and the wait for a connection. It bounds how long a hanging database server holds a request.
 */
export async function openDatabase(
  settings: DatabaseSettings,
  tables: Tables,
  log: Log,
  { hasQueryTimeout = true, timeoutMs = 2_000 } = {},
): Promise<Database> {
  return settings.databaseUrl === null
    ? openEmbedded(join(settings.dataDir, 'pgdata'), tables, log)
    : openServer(
        settings.databaseUrl,
        { size: settings.dbPoolSize, hasQueryTimeout, timeoutMs, file: settings.databaseUrlFile ?? null },
        tables,
        log,
      );
}

/** PostgreSQL's default of 128 MB would stay resident; the file system cache serves the rest. */
const embeddedBuffers = '16MB';
/**
 * PostgreSQL's default of 1,000 files would leave no descriptor for connections where a process may have 1,024. Each day adds the
 * files of its partitions.
 */
const embeddedFilesMax = 200;

async function openEmbedded(directory: string, tables: Tables, log: Log): Promise<Database> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await lockDirectory(`${directory}.lock`);
  let embedded: EmbeddedDatabase | null = null;
  const close = async () => {
    await embedded?.close();
    await lock.release();
  };
  try {
    const loading = import('@mikro-orm/pglite');
    const startParams = ['-c', `shared_buffers=${embeddedBuffers}`, '-c', `max_files_per_process=${embeddedFilesMax}`];
    embedded = await openEmbeddedDatabase({ dataDir: directory, startParams }, { onCrash: (error) => endProcess(error, log) });
    const options = { ...shared(tables, log), driverOptions: { pglite: embedded } };
    const orm = (await (await loading).MikroORM.init(options)) as unknown as MikroORM;
    // One process, one connection: no lock is needed, and waiting for one on the same connection would never end.
    await runMigrations(orm, tables.migrations, log);
    const sessionOf = await applyRowLevelSecurity(orm.em.fork(), tablesOf(orm), log);
    joinSession(orm.em.getConnection());
    return {
      em: () => orm.em.fork(),
      emOf: (organisationId) => tenantFork(orm, sessionOf, organisationId),
      ask: (statement, values) => orm.em.fork().execute(statement.text, [...values]),
      close: () => orm.close(true).then(close),
    };
  } catch (error) {
    await close();
    const fullDisk = isBroken(error) ? await fullDiskOf(directory) : null;
    // A later start succeeds when there is space again.
    if (fullDisk !== null) throw new Error(fullDisk);
    throw isBroken(error)
      ? new StartError(
          `DATA_DIR: the embedded database in ${directory} cannot be opened (${(error as Error).message}): ` +
            'restore a backup, or move the folder away to start with empty data',
        )
      : error;
  }
}

/** Statements would fail until a restart. The supervisor starts the control plane again. */
function endProcess(error: Error, log: Log): void {
  log.error({ reason: error.message }, 'the embedded database has crashed; the process ends');
  process.exit(1);
}

/** The folder has no working database; another start would fail the same way. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && /PGlite failed to initialize|no PG_VERSION/i.test(error.message);
}

/** The limits are above that of a query, so that they end only transactions whose connection is lost. */
const limitsOf = (timeoutMs: number): TransactionLimits => ({ idleMs: 5 * timeoutMs, lockMs: 2 * timeoutMs });

interface PoolOptions {
  readonly size: number;
  readonly hasQueryTimeout: boolean;
  readonly timeoutMs: number;
  /** File of the URL. New connections use the password in it. */
  readonly file: string | null;
}

async function openServer(url: string, options: PoolOptions, tables: Tables, log: Log): Promise<Database> {
  const { size, hasQueryTimeout, timeoutMs, file } = options;
  const { MikroORM } = await import('@mikro-orm/postgresql');
  const prepared = createAskPrepared(log, () => orm.em.fork().execute('select 1'));
  const bind = requiresChannelBinding(url) ? requireChannelBinding : () => {};
  let refuse: () => Promise<void> = async () => {};
  const onPoolCreated = (pool: unknown) => {
    refuse = refuseConnections(pool);
    bind(pool);
    if (file !== null) readPasswordAgain(pool, file, log);
    guardPool(pool, timeoutMs / 2);
    (pool as EventEmitter).on('connect', joinBegin(hasQueryTimeout ? limitsOf(timeoutMs) : null));
    prepared.useOf(pool);
  };
  const ofUrl = optionsOfUrl(url);
  const orm: MikroORM = await MikroORM.init({
    ...shared(tables, log),
    ...server,
    clientUrl: url,
    pool: { min: 0, max: size, idleTimeoutMillis: 30_000 },
    driverOptions: {
      ...{ ...connect, ...ofUrl, connectionTimeoutMillis: timeoutMs, onPoolCreated },
      ...(hasQueryTimeout ? { query_timeout: timeoutMs } : {}),
    },
  });
  const migrating = await MikroORM.init({
    ...migrationsOnly(tables, log),
    ...{ ...server, clientUrl: url, pool: { min: 0, max: 3 } },
    driverOptions: {
      ...{ ...connect, ...ofUrl, lock_timeout: migrationLockWaitMs },
      onPoolCreated(pool: unknown) {
        bind(pool);
        guardPool(pool);
      },
    },
  });
  let sessionOf: TenantSession;
  try {
    sessionOf = await migrateAlone(migrating, tables.migrations, tablesOf(orm), log);
  } finally {
    await migrating.close(true);
  }
  const connection = orm.em.getConnection();
  joinSession(connection);
  takeTurns(connection, size, timeoutMs);
  return {
    ask: prepared.ask,
    em: () => orm.em.fork(),
    emOf: (organisationId) => tenantFork(orm, sessionOf, organisationId),
    close: async () => {
      await refuse();
      await orm.close(true);
    },
  };
}

/**
 * Options for migrations. They may take long, so they have connections of their own, while every later query must end within its time
 * limit. Without entities: the ORM needs 100 ms of CPU time to prepare them.
 */
function migrationsOnly(tables: Tables, log: Log): Options {
  const options = shared({ migrations: withoutTimeLimits(tables.migrations), entities: [] }, log);
  const discovery = { ...options.discovery, warnWhenNoEntities: false };
  return { ...options, discovery };
}

/** By default the ORM creates a missing database, so that a misspelt name would start an empty installation. */
const server = { ensureDatabase: false } as const;

const connect = { connectionTimeoutMillis: 2_000, keepAlive: true };

function shared({ entities, migrations }: Tables, log: Log): Options {
  return {
    entities: [...entities],
    extensions: [Migrator],
    // Each migration has a transaction of its own.
    migrations: { migrationsList: [...migrations], allOrNothing: false, snapshot: false, silent: true, tableName: 'migrations' },
    discovery: { disableDynamicFileAccess: true },
    // Messages of the ORM carry no parameters. Query logging, which would, is off.
    logger: (message) => log.debug({ source: 'orm' }, message),
    colors: false,
  } as Options;
}

/** An arbitrary number shared by all versions of this program. The holder of this lock may change tables. */
const migrationLock = 4_715_001;

/** One connection holds the lock while the migrator uses others. A waiting process finds nothing left to do. */
async function migrateAlone(
  orm: MikroORM,
  migrations: Tables['migrations'],
  tables: readonly EntityMetadata[],
  log: Log,
): Promise<TenantSession> {
  return orm.em.fork().transactional(async (tx) => {
    // This connection is idle while others migrate. If the server ended it, another control plane would migrate at the same time.
    await tx.execute(liftTimeLimits);
    await waitForLock(tx, log);
    await requireVersion(tx);
    await requirePublicSchema(tx);
    await requireSettings(tx);
    let isLogged = false;
    const lockDenied = async () => {
      if (!isLogged)
        log.info({}, 'other sessions hold locks on tables that a migration changes (pg_locks). It waits for up to two minutes');
      isLogged = true;
      await interruptAutovacuum(orm.em.fork());
    };
    await runMigrations(orm, migrations, log, lockDenied);
    return patiently(() => applyRowLevelSecurity(orm.em.fork(), tables, log), lockDenied);
  });
}

/** A statement that waits has a snapshot, and the concurrent build of an index by the holder would wait for its end. */
async function waitForLock(tx: EntityManager, log: Log): Promise<void> {
  for (let isLogged = false; ; isLogged = true) {
    const [row] = await tx.execute<[{ locked: boolean }]>('select pg_try_advisory_xact_lock(?) as locked', [migrationLock]);
    if (row.locked) return;
    if (!isLogged)
      log.info({}, `another session holds the lock of migrations (pg_locks, objid ${migrationLock}). The start waits`);
    await pause(200);
  }
}

/** Oldest major version that the tests run on. With an older one a statement might fail at any time. */
const oldestVersion = 15;

async function requireVersion(tx: EntityManager): Promise<void> {
  const [{ version }] = await tx.execute<[{ version: string }]>(`select current_setting('server_version') as version`);
  if (Number.parseInt(version, 10) >= oldestVersion) return;
  throw new StartError(
    `DATABASE_URL: the server is PostgreSQL ${version}, expected ${oldestVersion} or newer. Upgrade the server, or name another one`,
  );
}

/** The ORM looks for tables in `public`. In another schema the first start would succeed, and the second would create the tables again. */
async function requirePublicSchema(tx: EntityManager): Promise<void> {
  const [{ schema }] = await tx.execute<[{ schema: string | null }]>('select current_schema() as schema');
  if (schema === 'public') return;
  throw new StartError(
    `DATABASE_URL: the search_path of its user leads to ${schema === null ? 'no schema' : `the schema ${schema}`}, expected public. ` +
      'Set it with: alter role <user> in database <name> set search_path = public',
  );
}

/**
 * Settings that the statements rely on. The driver and the ORM read times in the ISO format only: they read 04/03, the fourth of March in the format
 * SQL with DMY, as the third of April. In a higher isolation level, changes at the same time fail with 40001 instead of waiting for each other.
 */
const required = [
  { name: 'DateStyle', expected: 'ISO', works: /^ISO/ },
  // PostgreSQL has no lower level: read uncommitted is read committed.
  { name: 'default_transaction_isolation', expected: 'read committed', works: /^read (un)?committed$/ },
] as const;

async function requireSettings(tx: EntityManager): Promise<void> {
  for (const { name, expected, works } of required) {
    const [{ value }] = await tx.execute<[{ value: string }]>(`select current_setting('${name}') as value`);
    if (works.test(value)) continue;
    throw new StartError(
      `DATABASE_URL: ${name} of its user is ${value}, expected ${expected}. ` +
        `Set it with: alter role <user> in database <name> set ${name} = '${expected}'`,
    );
  }
}

function tablesOf(orm: MikroORM): EntityMetadata[] {
  return [...orm.getMetadata().getAll().values()];
}

function tenantFork(orm: MikroORM, sessionOf: TenantSession, organisationId: string): EntityManager {
  // A missing tenant must never mean all tenants.
  if (!isUuid(organisationId)) throw new Error('expected the id of an organisation');
  return orm.em.fork({ session: sessionOf(organisationId) });
}
