import { MikroORM } from '@mikro-orm/postgresql';
import { expect, it } from 'vitest';
import { openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';
import { newReadyDatabase, postgresMissing } from '../support/test-database.ts';

it.skipIf(postgresMissing)(
  `a start logs once that another session holds the lock of migrations, and waits${postgresMissing ? ` (${postgresMissing})` : ''}`,
  async () => {
    const server = await newReadyDatabase();
    const options = { entities: [], discovery: { warnWhenNoEntities: false }, connect: false, ensureDatabase: false };
    const other = await MikroORM.init({ ...options, clientUrl: server.url });
    const log = newMemoryLog();
    const lines = () => log.lines.filter(({ message }) => message.includes('the lock of migrations (pg_locks, objid 4715001)'));
    try {
      const opened = await other.em.fork().transactional(async (tx) => {
        await tx.execute('select pg_advisory_xact_lock(4715001)');
        const opening = openDatabase({ databaseUrl: server.url, dbPoolSize: 3, dataDir: '' }, { entities, migrations }, log);
        await until(() => lines().length > 0);
        return { opening };
      });
      await (await opened.opening).close();
      expect(lines()).toHaveLength(1);
    } finally {
      await other.close(true);
      await server.drop();
    }
  },
);
