import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../admin/db/open-database.ts';
import { isDatabaseAway } from '../../../admin/is-database-away.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';
import { newReadyDatabase, postgresMissing } from '../support/test-database.ts';

const organisationId = '00000000-0000-4000-8000-000000000001';

describe.skipIf(postgresMissing)(`the time limit of queries${postgresMissing ? ` (${postgresMissing})` : ''}`, () => {
  let server: Awaited<ReturnType<typeof newReadyDatabase>>;
  let database: Database;
  beforeAll(async () => {
    server = await newReadyDatabase();
    const settings = { databaseUrl: server.url, dbPoolSize: 3, dataDir: '' };
    database = await openDatabase(settings, { entities, migrations }, newMemoryLog(), { timeoutMs: 300 });
  });
  afterAll(async () => {
    await database?.close();
    await server?.drop();
  });

  const running = async () =>
    (await database.em().execute("select pid from pg_stat_activity where query like '%pg_sleep(60)' and state = 'active'"))
      .length;

  it.each([
    ['alone', () => database.emOf(organisationId).execute('select pg_sleep(60)')],
    ['in a transaction', () => database.emOf(organisationId).transactional((tx) => tx.execute('select pg_sleep(60)'))],
    ['with values', () => database.emOf(organisationId).execute('select ?::text, pg_sleep(60)', ['a'])],
  ])('ends a statement of a tenant, %s, on the server too', async (_how, query) => {
    const asked = query().catch((error: unknown) => error);
    await until(async () => (await running()) > 0);
    expect(isDatabaseAway(await asked)).toBe(true);
    await until(async () => (await running()) === 0);
  });
});
