import { randomBytes } from 'node:crypto';
import { MikroORM } from '@mikro-orm/postgresql';

export type DatabaseName = 'PGlite' | 'PostgreSQL';

const server = process.env.TEST_DATABASE_URL ?? null;

/** The databases that suites run against: the embedded one, and a real server when `TEST_DATABASE_URL` names one. */
export const databases: readonly DatabaseName[] = server === null ? ['PGlite'] : ['PGlite', 'PostgreSQL'];

/** Why there is no real server; null when there is one. */
export const postgresMissing =
  server === null ? 'TEST_DATABASE_URL is not set, so nothing runs against a PostgreSQL server' : null;

/** An empty database of its own on the test server, dropped again by `drop`. */
export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

export async function newTestDatabase(owner: string | null = null): Promise<TestDatabase> {
  if (server === null) throw new Error(postgresMissing ?? '');
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  await run(`create database ${name}${owner === null ? '' : ` owner ${owner}`}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) };
}

/** A login without a password and without superuser rights; drop it after the databases it owns. */
export async function newLogin(
  name: string,
  right: 'createrole' | 'nocreaterole',
): Promise<{ name: string; drop(): Promise<void> }> {
  await run(`create role ${name} login nosuperuser ${right}`);
  return { name, drop: () => run(`drop role ${name}`) };
}

async function run(sql: string): Promise<void> {
  const orm = await MikroORM.init({ clientUrl: server ?? '', entities: [], discovery: { warnWhenNoEntities: false } });
  try {
    await orm.em.getConnection().execute(sql);
  } finally {
    await orm.close(true);
  }
}
