import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetOldRecords, retentionStart } from '../../../../admin/resources/logs/forget-old-records.ts';
import { startHousekeeping } from '../../../../admin/start-housekeeping.ts';
import { housekeepingTasks } from '../../../../admin/tables.ts';
import { newMemoryLog } from '../../../support/memory-log.ts';
import { sampleRecord } from '../../../support/sample-record.ts';
import { until } from '../../../support/until.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

it('retention: RECORD_RETENTION_DAYS=0 deletes nothing', () => {
  expect(retentionStart(0, Date.now())).toBeNull();
  expect(retentionStart(2, 3 * dayMs)).toEqual(new Date(dayMs));
});

describe.each(ruleDatabases)('retention of request records, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  async function store(...daysOfAge: number[]): Promise<string[]> {
    const { organisationId, workspaceId } = plane;
    const records = daysOfAge.map((days) => sampleRecord({ organisationId, workspaceId, createdAt: daysAgo(days) }));
    await plane.internal('POST', '/records', records);
    return records.map((record) => record.id);
  }
  const start = (recordRetentionDays: number, log: ReturnType<typeof newMemoryLog>) => {
    const { database: store, mailer } = plane.control.services;
    return startHousekeeping(housekeepingTasks, {
      settings: { ...plane.settings, recordRetentionDays },
      database: store,
      mailer,
      log,
    });
  };
  const em = () => plane.control.services.database.em();
  const statusOf = async (id: string | undefined) => (await plane.ask('GET', `/logs/${id}`)).status;

  it('housekeeping deletes records older than the setting and keeps the others', async () => {
    const [old, young] = await store(31, 29);
    const log = newMemoryLog();
    const housekeeping = start(30, log);
    await until(() => log.lines.some((line) => line.message.includes('RECORD_RETENTION_DAYS')));
    await housekeeping.close();
    expect([await statusOf(old), await statusOf(young)]).toEqual([404, 200]);
    expect(log.lines.filter((line) => line.level !== 'info')).toEqual([]);
  });

  it('log_body_retention_days deletes older bodies of the organisation alone, and no record', async () => {
    const other = await plane.newTenant();
    const side = { headers: {}, body: 'text', omitted: null };
    const stored: Record<string, string> = {};
    for (const [name, tenant, days] of [
      ['old', plane, 6],
      ['young', plane, 4],
      ['of another', other, 6],
    ] as const) {
      const { organisationId, workspaceId } = tenant;
      const record = sampleRecord({ organisationId, workspaceId, createdAt: daysAgo(days) });
      await plane.internal('POST', '/records', [record]);
      const { id, createdAt } = record;
      const content = { id, createdAt, organisationId, workspaceId, request: side, response: side };
      await plane.internal('POST', '/record-contents', [content]);
      stored[name] = id;
    }
    const put = (days: unknown) =>
      plane.ask('PUT', '/organisations/self', { body: { settings: { log_body_retention_days: days } } });
    const refused = await put(0);
    expect([refused.status, refused.body.data.message]).toEqual([
      400,
      expect.stringContaining('settings.log_body_retention_days: '),
    ]);
    expect((await put(5)).status).toBe(200);
    const idsLeft = async () =>
      (await em().execute<{ id: string }[]>('select id from record_contents order by id')).map(({ id }) => id);
    const housekeeping = start(30, newMemoryLog());
    await until(async () => !(await idsLeft()).includes(stored.old as string));
    await housekeeping.close();
    expect(await idsLeft()).toEqual([stored.young, stored['of another']].sort());
    expect(await statusOf(stored.old)).toBe(200);
    await put(null);
  });

  it('deletes more than one batch, and stops between batches when the process closes', async () => {
    await em().execute('delete from request_records');
    await em().execute(
      `insert into request_records (id, trace_id, created_at, status, outcome, record)
       select gen_random_uuid(), 'old', now() - interval '40 days', 200, 'success', '{}' from generate_series(1, 2500)`,
    );
    const before = new Date(Date.now() - 30 * dayMs);
    expect(await forgetOldRecords(em(), before, () => true)).toBe(0);
    let asked = 0;
    expect(await forgetOldRecords(em(), before, () => asked++ > 0)).toBe(1000);
    expect(await forgetOldRecords(em(), before, () => false)).toBe(1500);
  });

  it('two control planes at once delete every record once', async () => {
    await em().execute(
      `insert into request_records (id, trace_id, created_at, status, outcome, record)
       select gen_random_uuid(), 'old', now() - interval '40 days', 200, 'success', '{}' from generate_series(1, 3000)`,
    );
    const before = new Date(Date.now() - 30 * dayMs);
    const [a = 0, b = 0] = await Promise.all([1, 2].map(() => forgetOldRecords(em(), before, () => false)));
    const rest = await forgetOldRecords(em(), before, () => false);
    expect(a + b + rest).toBe(3000);
  });
});
