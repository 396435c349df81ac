import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDayPartitions } from '../../../../admin/db/day-partitions.ts';
import { dayMs, hourMs } from '../../../../core/contract/values/time/durations.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { type DatabaseName, databases, postgresMissing } from '../../support/test-database.ts';

if (postgresMissing) console.warn(`skipped: lists with a locked partition: ${postgresMissing}`);

/** Noon of a day that has a partition of its own, and noons of earlier days. */
const noonMs = Math.floor(Date.now() / dayMs) * dayMs + 2.5 * dayMs;
const ages = [0, 0, 0, 3 * dayMs, 30 * dayMs, 31 * dayMs];
const max = `time_of_generation_max=${new Date(noonMs + hourMs / 60).toISOString()}`;

/** Starts a control plane with a record of each age. Returns their ids as well. */
async function startWithRecords(name: DatabaseName) {
  const plane = await startPlane(name);
  // Records of a day without a partition would move while the test reads them.
  await createDayPartitions(plane.control.services.database.em(), 'request_records', Date.now(), 3);
  const tenant = { organisationId: plane.organisationId, workspaceId: plane.workspaceId };
  const records = ages.map((age) =>
    sampleRecord({ ...tenant, createdAt: new Date(noonMs - age).toISOString(), metadata: { team: 'red' } }),
  );
  const others = ages.map((age) => sampleRecord({ ...tenant, createdAt: new Date(noonMs - age).toISOString() }));
  expect((await plane.internal('POST', '/records', [...records, ...others])).body).toMatchObject({ inserted: 12 });
  return { plane, ids: records.map(({ id }) => id) };
}

/** Follows the cursors of a query. Returns the ids of the logs. */
async function idsAfter(plane: Plane, query: string, first = ''): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = first;
  while (cursor !== null) {
    const { status, body } = await plane.ask('GET', `/logs?${query}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    expect(body.has_more).toBe(body.next_cursor !== null);
    ids.push(...body.data.map((log: { _id: string }) => log._id));
    cursor = body.next_cursor;
  }
  return ids;
}

describe.each(databases)('lists of logs in slices of time, on %s', (name) => {
  let plane: Plane;
  let ids: string[];
  beforeAll(async () => {
    ({ plane, ids } = await startWithRecords(name));
  });
  afterAll(() => plane?.close());

  const byTeam = `${max}&metadata=${encodeURIComponent('{"team":"red"}')}`;

  it.each([1, 2, 100])('pages of %i visit every log once', async (size) => {
    const seen = await idsAfter(plane, `${byTeam}&page_size=${size}`);
    expect(seen).toHaveLength(ids.length);
    expect(new Set(seen)).toEqual(new Set(ids));
  });

  it('a cursor that is a time returns the logs before it, without those of this time', async () => {
    const cursor = Buffer.from(`${new Date(noonMs - 3 * dayMs).toISOString()} 00000000-0000-0000-0000-000000000000`);
    expect(await idsAfter(plane, byTeam, cursor.toString('base64url'))).toEqual(ids.slice(4));
  });

  it('logs before time_of_generation_min are left out', async () => {
    const min = `time_of_generation_min=${new Date(noonMs - 30 * dayMs).toISOString()}`;
    const seen = await idsAfter(plane, `${byTeam}&${min}&page_size=2`);
    expect(new Set(seen)).toEqual(new Set(ids.slice(0, 5)));
  });
});

describe.runIf(!postgresMissing)('lists of logs while the database is late, on PostgreSQL', () => {
  let plane: Plane;
  let ids: string[];
  beforeAll(async () => {
    ({ plane, ids } = await startWithRecords('PostgreSQL'));
  });
  afterAll(() => plane?.close());

  /** Runs `work` while no statement can read the logs of the day before. */
  const whileLocked = (work: () => Promise<void>) =>
    plane.control.services.database.em().transactional(async (tx) => {
      const day = new Date(noonMs - dayMs).toISOString().slice(0, 10).replaceAll('-', '');
      await tx.execute(`lock table request_records_${day} in access exclusive mode`);
      await work();
    });

  it('a page ends early with a cursor, without a total, and the next pages have the rest', async () => {
    let cursor = '';
    await whileLocked(async () => {
      const { status, body } = await plane.ask('GET', `/logs?${max}&ai_model=gpt-4o-mini&include_total=true`);
      expect({ status, body }).toMatchObject({ status: 200, body: { total: null, has_more: true } });
      const seen = body.data.map((log: { _id: string }) => log._id);
      expect(seen).toHaveLength(6);
      expect(seen).toEqual(expect.arrayContaining(ids.slice(0, 3)));
      cursor = body.next_cursor;
    });
    const rest = await idsAfter(plane, `${max}&ai_model=gpt-4o-mini`, cursor);
    expect(rest).toHaveLength(6);
    expect(rest).toEqual(expect.arrayContaining(ids.slice(3)));
  });

  it('a page that skips logs names the cursor as remedy', async () => {
    await whileLocked(async () => {
      const { status, body } = await plane.ask('GET', `/logs?${max}&current_page=1&page_size=3`);
      expect({ status, body }).toMatchObject({
        status: 503,
        body: { data: { message: expect.stringMatching(/^current_page: .*next_cursor/) } },
      });
    });
  });
});
