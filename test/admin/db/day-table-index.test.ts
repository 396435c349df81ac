import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, type EntityManager, openDatabase } from '../../../admin/db/open-database.ts';
import { entities, migrations } from '../../../admin/tables.ts';
import { newMemoryLog } from '../../support/fakes/memory-log.ts';
import { newGate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';
import { newReadyDatabase, postgresMissing, type TestDatabase } from '../support/test-database.ts';

/** The tables of a running version lack the index of records by prompt. */
describe.skipIf(postgresMissing !== null)('an index of records, built by a new version', () => {
  let database: TestDatabase;
  let running: Database;
  const open = () =>
    openDatabase({ databaseUrl: database.url, dbPoolSize: 3, dataDir: '' }, { entities, migrations }, newMemoryLog());
  const sql = (text: string, em: EntityManager = running.em()) => em.execute<Record<string, unknown>[]>(text);

  beforeEach(async () => {
    database = await newReadyDatabase();
    running = await open();
    await sql(`delete from migrations where name like '%records-by-prompt'`);
    await sql('drop index request_records_by_prompt');
  });
  afterEach(async () => {
    await running?.close();
    await database?.drop();
  });

  const insert = (table: string, em?: EntityManager) =>
    sql(
      `insert into ${table} (id, trace_id, created_at, status, outcome, record)
       values ('${randomUUID()}', 't', '2000-01-01T00:00:00Z', 200, 'success', '{"promptSlug": "p"}')`,
      em,
    );

  /** Keeps a transaction open that has written a record, so that no index of its partition can be complete. */
  async function holdWrite() {
    const [written, end] = [newGate(), newGate()];
    const done = running.em().transactional(async (tx) => {
      await insert('request_records_before', tx);
      written.open();
      await end.opened;
    });
    await written.opened;
    return {
      end: () => {
        end.open();
        return done;
      },
    };
  }

  /** The process that builds the index and waits for the open transaction. */
  const builder = () =>
    until(
      async () => {
        const rows = await sql(`select pid from pg_stat_activity where datname = current_database()
          and wait_event_type = 'Lock' and query like 'create index%'`);
        return rows[0]?.pid;
      },
      { what: 'a build that waits' },
    );

  const invalid = () =>
    sql(`select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid where not i.indisvalid order by 1`);

  const uses = async () => {
    const rows = await sql(
      `select count(*)::int as partitions from pg_inherits where inhparent = 'request_records_by_prompt'::regclass`,
    );
    const [{ expected }] = (await sql(
      `select count(*)::int as expected from pg_inherits where inhparent = 'request_records'::regclass`,
    )) as [{ expected: number }];
    return { rows, expected };
  };

  it('does not block writes, and is complete on all partitions', async () => {
    const held = await holdWrite();
    const opening = open();
    // This lock on a table conflicts neither with reads nor with writes.
    const locks =
      await sql(`select distinct mode from pg_locks l join pg_class c on c.oid = l.relation and c.relkind in ('r', 'p')
      where c.relname like 'request_records%' and l.pid = ${await builder()}`);
    expect(locks).toEqual([{ mode: 'ShareUpdateExclusiveLock' }]);
    await running.em().transactional(async (tx) => {
      await sql(`set local lock_timeout = '1s'`, tx);
      await insert('request_records', tx);
    });
    await held.end();
    await (await opening).close();
    expect(await invalid()).toEqual([]);
    const { rows, expected } = await uses();
    expect(rows).toEqual([{ partitions: expected }]);
  });

  it('replaces what an interrupted build has left', async () => {
    const held = await holdWrite();
    const opening = open().catch((error: unknown) => error);
    await sql(`select pg_cancel_backend(${await builder()})`);
    expect(await opening).toMatchObject({ message: expect.stringContaining('canceling statement due to user request') });
    expect(await invalid()).toEqual([{ relname: 'request_records_before_by_prompt' }, { relname: 'request_records_by_prompt' }]);
    await held.end();
    await (await open()).close();
    expect(await invalid()).toEqual([]);
  });

  it('does not wait for control planes that wait for it', async () => {
    const held = await holdWrite();
    const opening = [open()];
    await builder();
    opening.push(open());
    await until(
      async () => {
        const [row] = await sql(`select count(*)::int as waiting from pg_stat_activity where datname = current_database()
          and query like '%advisory_xact_lock%' and pid <> pg_backend_pid()`);
        return row?.waiting === 1;
      },
      { what: 'a second control plane' },
    );
    await held.end();
    for (const opened of await Promise.all(opening)) await opened.close();
    expect(await invalid()).toEqual([]);
  });
});
