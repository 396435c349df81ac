import type { AbstractSqlConnection } from '@mikro-orm/postgresql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../admin/db/open-database.ts';
import { ConnectionsBusy, takeTurns } from '../../../admin/db/tenant-turns.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newGate } from '../../support/gate.ts';
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

  it('a transaction inside another one takes no second place, so that those of one that uses its share end', async () => {
    const gate = newGate<void>();
    let begun = 0;
    const works = Array.from({ length: 8 }, () =>
      database.emOf(loud).transactional(async (tx) => {
        await tx.execute('select 1');
        begun++;
        await gate.opened;
        return tx.transactional((inner) => inner.execute<{ one: number }[]>('select 1 as one'));
      }),
    );
    await until(() => begun === 8, { what: 'eight open transactions' });
    gate.open();
    expect(await Promise.all(works)).toEqual(Array(8).fill([{ one: 1 }]));
  });
});

describe('turns of organisations', () => {
  /** A pool of four connections, three of which organisations may use. */
  function newPool(waitMs: number) {
    const connection = { transactional: (work: () => Promise<unknown>) => work() };
    takeTurns(connection as unknown as AbstractSqlConnection, 4, waitMs);
    const started: string[] = [];
    const begin = (owner: string, name: string) => {
      const gate = newGate<void>();
      const sessionContext = { variables: { 'svc.organisation': owner } };
      const run = connection.transactional as unknown as (work: () => Promise<void>, options: object) => Promise<void>;
      const ended = run(
        () => {
          started.push(name);
          return gate.opened;
        },
        { sessionContext },
      );
      return { ended, end: () => gate.open() };
    };
    return { started, begin };
  }

  it('a connection that is free goes to another one after that of one with several', async () => {
    const { started, begin } = newPool(60_000);
    const works = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1'].map((name) => begin(name[0] as string, name));
    for (const one of works) {
      one.end();
      await one.ended;
    }
    expect(started).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'a5']);
  });

  it('work that has waited too long uses no connection later', async () => {
    const { started, begin } = newPool(5);
    const works = ['a1', 'a2', 'a3'].map((name) => begin('a', name));
    await Promise.all(['b1', 'b2', 'b3'].map((name) => expect(begin('b', name).ended).rejects.toThrow(ConnectionsBusy)));
    for (const one of works) one.end();
    await Promise.all(works.map(({ ended }) => ended));
    const next = begin('b', 'b4');
    next.end();
    await next.ended;
    expect(started).toEqual(['a1', 'a2', 'a3', 'b4']);
  });
});
