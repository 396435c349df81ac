import type { MigrationObject } from '@mikro-orm/core';
import { Migration } from '@mikro-orm/migrations';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { isDatabaseAway } from '../../../admin/is-database-away.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../support/test-database.ts';

describe.skipIf(postgresMissing !== null)('migrations on PostgreSQL', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await newReadyDatabase();
  });
  afterEach(() => database.drop());

  const open = (...added: MigrationObject[]) =>
    openDatabase(
      { databaseUrl: database.url, dbPoolSize: 2, dataDir: '' },
      { entities, migrations: [...migrations, ...added] },
      newMemoryLog(),
    );

  it('fail if the server ends their connections, and the next attempt succeeds', async () => {
    const lost = await open({ name: '299901010000-lost', class: EndsConnections }).catch((error: unknown) => error);
    expect(isDatabaseAway(lost)).toBe(true);
    const opened = await open();
    await opened.close();
  });

  it.each(['statement_timeout', 'idle_in_transaction_session_timeout'])(
    'may take longer than %s of the database, which other statements keep',
    async (setting) => {
      const before = await open();
      await before.em().execute(`alter database ${database.name} set ${setting} = '100ms'`);
      await before.close();
      const opened = await open({ name: '299901010000-slow', class: TakesLong });
      expect(await opened.em().execute(`select current_setting('${setting}') as value`)).toEqual([{ value: '100ms' }]);
      await opened.close();
    },
  );
});

class EndsConnections extends Migration {
  override up(): void {
    // The connection that holds the migration lock first, then the one of this migration.
    this.addSql(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() order by pid = pg_backend_pid()',
    );
  }
}

class TakesLong extends Migration {
  override up(): void {
    this.addSql('select pg_sleep(0.4)');
  }
}
