import { randomBytes } from 'node:crypto';
import { MikroORM } from '@mikro-orm/postgresql';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { fingerprint } from './pgdata-template.ts';

export type DatabaseName = 'PGlite' | 'PostgreSQL';

const server = process.env.TEST_DATABASE_URL ?? null;

/** The databases that suites run against: the embedded one, and a real server when `TEST_DATABASE_URL` names one. */
export const databases: readonly DatabaseName[] = server === null ? ['PGlite'] : ['PGlite', 'PostgreSQL'];

/**
 * The database of suites whose cases differ by rule (roles, scopes, fields, refusals) and not by SQL: the real server if there is one,
 * else the embedded database. With LONG_TESTS such suites run against both. On the embedded one, the generated client and the
 * end-to-end tests use every resource in any case.
 */
export const ruleDatabases: readonly DatabaseName[] = process.env.LONG_TESTS ? databases : databases.slice(-1);

/** The opposite: suites that use every resource on the embedded database. With LONG_TESTS they run against both. */
export const embeddedDatabases: readonly DatabaseName[] = process.env.LONG_TESTS ? databases : ['PGlite'];

/** The database of rule suites that run on one database only. */
export const ruleDatabase: DatabaseName = server === null ? 'PGlite' : 'PostgreSQL';

/** Why there is no real server; null when there is one. */
export const postgresMissing =
  server === null ? 'TEST_DATABASE_URL is not set, so nothing runs against a PostgreSQL server' : null;

/** An empty database of its own on the test server, dropped again by `drop`. */
export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** Makes transactions of new connections read-only, or allows writes again. */
  setReadOnly(on: boolean): Promise<void>;
  drop(): Promise<void>;
}

/** Drops databases of the test server by name. */
export async function dropDatabases(names: readonly string[]): Promise<void> {
  await onServer(async (execute) => {
    for (const name of names) await execute(`drop database if exists ${name} with (force)`);
  });
}

export async function newTestDatabase(owner: string | null = null): Promise<TestDatabase> {
  return newDatabase(owner === null ? '' : `owner ${owner}`);
}

/** The same with all tables and no rows, copied from a template that is created once per server and state of the migrations. */
export async function newReadyDatabase(): Promise<TestDatabase> {
  const template = `svc_test_template_${await fingerprint()}`;
  await onServer(async (execute) => {
    // Held until this connection closes, so that other tests only see a complete template.
    await execute(`select pg_advisory_lock(${templateLock})`);
    const found = await execute(`select 1 from pg_database where datname = '${template}'`);
    if (found.length > 0) return;
    // Left by a process that was killed while it created the template.
    await execute(`drop database if exists ${template}_new with (force)`);
    await execute(`create database ${template}_new`);
    const [{ openDatabase }, { entities, migrations }] = await Promise.all([
      import('../../../admin/db/open-database.ts'),
      import('../../../admin/tables.ts'),
    ]);
    const made = await openDatabase(
      { databaseUrl: urlOf(`${template}_new`), dbPoolSize: 1, dataDir: '' },
      { entities, migrations },
      newMemoryLog(),
    );
    await made.close();
    await execute(`alter database ${template}_new rename to ${template}`);
  });
  return newDatabase(`template ${template} ${await copyStrategy()}`);
}

let strategy: Promise<string> | null = null;

/** Copying the files of a template takes a quarter of the CPU of copying it through the log, the default since PostgreSQL 15. */
function copyStrategy(): Promise<string> {
  strategy ??= onServer(async (execute) => {
    const [row] = (await execute('show server_version_num')) as [{ server_version_num: string }];
    return Number(row.server_version_num) >= 150_000 ? 'strategy file_copy' : '';
  });
  return strategy;
}

/** An arbitrary number that all test files agree on. */
const templateLock = 4_715_901;

/** A login without a password and without superuser rights; drop it after the databases it owns. */
export async function newLogin(
  name: string,
  right: 'createrole' | 'nocreaterole',
): Promise<{ name: string; drop(): Promise<void> }> {
  await run(`create role ${name} login nosuperuser ${right}`);
  return { name, drop: () => run(`drop role ${name}`) };
}

async function newDatabase(how: string): Promise<TestDatabase> {
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  await run(`create database ${name} ${how}`);
  const setReadOnly = (on: boolean) => run(`alter database ${name} set default_transaction_read_only = ${on ? 'on' : 'off'}`);
  return { name, url: urlOf(name), setReadOnly, drop: () => dropDatabases([name]) };
}

function urlOf(name: string): string {
  const url = new URL(server ?? '');
  url.pathname = `/${name}`;
  return url.href;
}

async function run(sql: string): Promise<void> {
  await onServer((execute) => execute(sql));
}

/** Statements over one connection to the server. */
async function onServer<T>(work: (execute: (sql: string) => Promise<unknown[]>) => Promise<T>): Promise<T> {
  if (server === null) throw new Error(postgresMissing ?? '');
  const orm = await MikroORM.init({
    clientUrl: server,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: 1 },
  });
  try {
    return await work((sql) => orm.em.getConnection().execute(sql));
  } finally {
    await orm.close(true);
  }
}
