import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newReadyDatabase, postgresMissing } from '../support/test-database.ts';

const statement = { name: 'double', text: 'select ?::int * 2 as doubled, ?::text as told' };

// The embedded database plans each statement anew. Every test that looks up a key shows that it runs them.
describe.skipIf(postgresMissing)(`prepared statements${postgresMissing ? ` (${postgresMissing})` : ''}`, () => {
  let server: Awaited<ReturnType<typeof newReadyDatabase>>;
  let database: Database;
  let log: ReturnType<typeof newMemoryLog>;
  beforeAll(async () => {
    server = await newReadyDatabase();
    log = newMemoryLog();
    // With one connection, that connection has the plan.
    database = await openDatabase({ databaseUrl: server.url, dbPoolSize: 1, dataDir: '' }, { entities, migrations }, log);
  });
  afterAll(async () => {
    await database?.close();
    await server?.drop();
  });

  const plans = async () => (await database.em().execute('select name from pg_prepared_statements')) as { name: string }[];

  it('are planned once and return the values of each call', async () => {
    expect(await database.ask(statement, ['2', 'a?'])).toEqual([{ doubled: 4, told: 'a?' }]);
    expect(await database.ask(statement, ['3', 'b'])).toEqual([{ doubled: 6, told: 'b' }]);
    expect(await plans()).toEqual([{ name: expect.stringMatching(/^double-/) }]);
  });

  it('are named by their text, because another version behind the same pooler may use the same name', async () => {
    expect(await database.ask({ ...statement, text: 'select ?::int * 3 as tripled, ?::text as told' }, ['2', 'a'])).toEqual([
      { tripled: 6, told: 'a' },
    ]);
    expect(await database.ask(statement, ['2', 'a'])).toEqual([{ doubled: 4, told: 'a' }]);
  });

  it('are sent without their plan if a migration has changed their columns', async () => {
    await database.em().execute('create table t (a int)');
    await database.em().execute('insert into t values (1)');
    const all = { name: 'all', text: 'select a from t where ?::text is not null' };
    expect(await database.ask(all, [''])).toEqual([{ a: 1 }]);
    await database.em().execute('alter table t alter column a type text');
    expect(await database.ask(all, [''])).toEqual([{ a: '1' }]);
    expect(await database.ask(all, [''])).toEqual([{ a: '1' }]);
    expect(log.lines).toEqual([]);
  });

  it('fail with the database error, and leave the connection usable', async () => {
    await expect(database.ask(statement, ['no number', ''])).rejects.toMatchObject({ code: '22P02' });
    expect(await database.ask(statement, ['4', ''])).toEqual([{ doubled: 8, told: '' }]);
  });

  it('are not used if a pooler switches connections', async () => {
    await database.em().execute('deallocate all');
    expect(await database.ask(statement, ['5', ''])).toEqual([{ doubled: 10, told: '' }]);
    expect(await database.ask(statement, ['6', ''])).toEqual([{ doubled: 12, told: '' }]);
    expect(await plans()).toEqual([]);
    expect(log.lines.filter(({ message }) => message.includes('pooler'))).toHaveLength(1);
  });
});
