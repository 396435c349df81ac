import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { until } from '../../support/until.ts';
import { newReadyDatabase, postgresMissing } from '../support/test-database.ts';

const loud = '00000000-0000-4000-8000-000000000001';
const quiet = '00000000-0000-4000-8000-000000000002';

describe.skipIf(postgresMissing)(`connections of organisations${postgresMissing ? ` (${postgresMissing})` : ''}`, () => {
  let server: Awaited<ReturnType<typeof newReadyDatabase>>;
  let database: Database;
  beforeAll(async () => {
    server = await newReadyDatabase();
    const settings = { databaseUrl: server.url, dbPoolSize: 12, dataDir: '' };
    database = await openDatabase(settings, { entities, migrations }, newMemoryLog(), { timeoutMs: 5_000 });
  });
  afterAll(async () => {
    await database?.close();
    await server?.drop();
  });

  const pidsOf = (text: string) =>
    database
      .em()
      .execute<{ pid: number }[]>(
        `select pid from pg_stat_activity where state = 'active' and query like '%/*${text}*/%' and pid <> pg_backend_pid()`,
      );
  const cancelAll = async (text: string) => {
    for (const { pid } of await pidsOf(text)) await database.em().execute('select pg_cancel_backend(?)', [pid]);
  };

  it.each([
    ['statements', (text: string) => database.emOf(loud).execute(`select pg_sleep(60) /*${text}*/`)],
    ['transactions', (text: string) => database.emOf(loud).transactional((tx) => tx.execute(`select pg_sleep(60) /*${text}*/`))],
  ])('slow %s of one leave some for others and for the service', async (text, search) => {
    let ended = 0;
    const searches = Array.from({ length: 30 }, async () => {
      const end = await search(text).then(
        () => 'a result',
        (error: Error) => error.message,
      );
      ended++;
      return end;
    });
    await until(async () => (await pidsOf(text)).length === 8, { what: 'eight searches at the database' });
    expect(await database.emOf(quiet).execute('select 1 as one')).toEqual([{ one: 1 }]);
    expect(await database.emOf(quiet).transactional((tx) => tx.execute('select 1 as one'))).toEqual([{ one: 1 }]);
    await Promise.all(Array.from({ length: 4 }, () => database.em().execute('select 1 as one')));
    await until(
      async () => {
        await cancelAll(text);
        return ended === searches.length;
      },
      { what: 'the end of all searches' },
    );
    const ends = await Promise.all(searches);
    expect(ends.filter((end) => !/canceling statement|hold its share of the database connections/.test(end))).toEqual([]);
    expect(await database.emOf(loud).execute('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
