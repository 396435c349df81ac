import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDayPartitions, dropPartitionsBefore } from '../../../admin/db/day-partitions.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { until } from '../../support/until.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

const dayMs = 86_400_000;
/** Days that no other test of this process uses. */
const startMs = Date.UTC(2031, 0, 1);

describe.each(databases)('partitions by day, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(async () => {
    for (const partition of await partitions('request_records_2031%')) await em().execute(`drop table ${partition}`);
    await plane?.close();
  });

  const em = () => plane.control.services.database.em();
  const partitions = async (like: string) => {
    const rows = await em().execute<{ name: string }[]>(
      'select relname as name from pg_class where relname like ? and relkind = ?',
      [like, 'r'],
    );
    return rows.map((row) => row.name).sort();
  };
  const storeAt = async (...times: number[]) => {
    const records = times.map((ms) =>
      sampleRecord({
        id: randomUUID(),
        organisationId: plane.organisationId,
        workspaceId: plane.workspaceId,
        createdAt: new Date(ms).toISOString(),
      }),
    );
    const { body } = await plane.internal('POST', '/records', records);
    expect(body).toMatchObject({ inserted: times.length });
    return records;
  };
  const tableOf = async (id: string) => {
    const [row] = await em().execute<[{ at: string }]>(
      'select tableoid::regclass::text as at from request_records where id = ?',
      [id],
    );
    return row?.at;
  };

  it('hold rows of their UTC day, to the millisecond, whatever the time zone of the session', async () => {
    // The embedded database has one session.
    if (name === 'PGlite') await em().execute("set time zone 'Asia/Seoul'");
    expect(await createDayPartitions(em(), 'request_records', startMs + 5_000, 1)).toBe(2);
    expect(await createDayPartitions(em(), 'request_records', startMs + 5_000, 1)).toBe(0);
    await em().execute("set time zone 'UTC'");
    const [first, last, next] = await storeAt(startMs, startMs + dayMs - 1, startMs + dayMs);
    expect(await tableOf(first?.id ?? '')).toBe('request_records_20310101');
    expect(await tableOf(last?.id ?? '')).toBe('request_records_20310101');
    expect(await tableOf(next?.id ?? '')).toBe('request_records_20310102');
  });

  it('take over the rows that were stored before them', async () => {
    const [early] = await storeAt(startMs + 10 * dayMs);
    expect(await tableOf(early?.id ?? '')).toBe('request_records_rest');
    await createDayPartitions(em(), 'request_records', startMs + 10 * dayMs, 0);
    expect(await tableOf(early?.id ?? '')).toBe('request_records_20310111');
    const again = await plane.internal('POST', '/records', [early]);
    expect(again.body).toMatchObject({ inserted: 0, duplicates: 1 });
  });

  it.skipIf(name === 'PGlite')('never hide a row that moves from a query that runs meanwhile', async () => {
    const at = startMs + 40 * dayMs;
    const [row] = await storeAt(at);
    /** Waits until a statement that begins like this waits for a lock. */
    const waits = (beginning: string) =>
      until(
        async () => {
          const found = await em().execute(
            `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like ?`,
            [`${beginning}%`],
          );
          return found.length > 0;
        },
        { what: `a lock for ${beginning}` },
      );
    let created: Promise<number> | undefined;
    let place: Promise<string | undefined> | undefined;
    await em().transactional(async (tx) => {
      await tx.execute('lock table request_records_rest in access share mode');
      created = createDayPartitions(em(), 'request_records', at, 0, 60_000);
      await waits('lock table');
      place = tableOf(row?.id ?? '');
      await waits('select tableoid');
    });
    expect([await created, await place]).toEqual([1, 'request_records_20310210']);
  });

  it('are created once by two control planes at the same time', async () => {
    const at = startMs + 20 * dayMs;
    const counts = await Promise.all([1, 2].map(() => createDayPartitions(em(), 'request_records', at, 2)));
    expect(counts[0] + counts[1]).toBe(3);
  });

  it('are dropped when all their rows are too old, and accept late records after that', async () => {
    const at = startMs + 30 * dayMs;
    await createDayPartitions(em(), 'request_records', at, 1);
    const [old, young] = await storeAt(at, at + dayMs);
    // It gives way to jobs that hold the table, and the job that calls it repeats it.
    const drop = () => dropPartitionsBefore(em(), 'request_records', new Date(at + dayMs + 1));
    expect(await until(drop, { what: 'a lock of the table' })).toBeGreaterThan(0);
    expect([await tableOf(old?.id ?? ''), await tableOf(young?.id ?? '')]).toEqual([undefined, 'request_records_20310201']);
    const [late] = await storeAt(at + 1);
    expect(await tableOf(late?.id ?? '')).toBe('request_records_rest');
  });
});
