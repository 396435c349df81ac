import { Migration } from '@mikro-orm/migrations';
import { MikroORM } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newGate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';
import { newReadyDatabase, postgresMissing } from '../support/test-database.ts';

class IndexOrganisations extends Migration {
  override up(): void {
    this.addSql('create index organisations_test on organisations (name)');
  }
}

/** Waits longer than PostgreSQL's `deadlock_timeout`, which makes autovacuum give way. Reads and writes do not queue behind it. */
const waiting = `select 1 from pg_locks where not granted and mode = 'ShareUpdateExclusiveLock'
  and waitstart < clock_timestamp() - (select setting::int + 100 from pg_settings where name = 'deadlock_timeout') * interval '1 ms'
  and database = (select oid from pg_database where datname = current_database())`;

describe.skipIf(postgresMissing)(
  `a migration of a table that autovacuum holds${postgresMissing ? ` (${postgresMissing})` : ''}`,
  () => {
    let server: Awaited<ReturnType<typeof newReadyDatabase>>;
    let other: MikroORM;
    beforeAll(async () => {
      server = await newReadyDatabase();
      const options = { entities: [], discovery: { warnWhenNoEntities: false }, connect: false, ensureDatabase: false };
      other = await MikroORM.init({ ...options, clientUrl: server.url });
    });
    afterAll(async () => {
      await other?.close(true);
      await server?.drop();
    });

    it('waits until autovacuum gives way, while others write, and logs it once', async () => {
      const [held, released] = [newGate(), newGate()];
      // The lock of autovacuum.
      const vacuum = other.em.fork().transactional(async (tx) => {
        await tx.execute('lock table organisations in share update exclusive mode');
        held.open();
        await released.opened;
      });
      await held.opened;
      const log = newMemoryLog();
      const settings = { databaseUrl: server.url, dbPoolSize: 3, dataDir: '' };
      const opened = openDatabase(
        settings,
        { entities, migrations: [...migrations, { name: '999912312359-test', class: IndexOrganisations }] },
        log,
      );
      await until(async () => (await other.em.fork().execute(waiting)).length > 0);
      await other.em.fork().execute('update organisations set name = name');
      released.open();
      await vacuum;
      await (await opened).close();
      expect(log.lines.filter(({ message }) => message.includes('hold locks'))).toHaveLength(1);
      expect(await other.em.fork().execute("select 1 from pg_class where relname = 'organisations_test'")).toHaveLength(1);
    });
  },
);
