import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../../../admin/resources/ledger-entries/verify-ledger.ts';
import { forgetOldRecords } from '../../../../admin/resources/logs/forget-old-records.ts';
import { type Retention, readRetention, retentionStart } from '../../../../admin/resources/logs/retention.ts';
import { startHousekeeping } from '../../../../admin/start-housekeeping.ts';
import { housekeepingTasks } from '../../../../admin/tables.ts';
import { newMemoryLog } from '../../../support/fakes/memory-log.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { until } from '../../../support/until.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases, ruleDatabases } from '../../support/test-database.ts';

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
    const { database: store, clickhouse, mailer, clock } = plane.control.services;
    return startHousekeeping(housekeepingTasks, {
      settings: { ...plane.settings, recordRetentionDays },
      database: store,
      clickhouse,
      mailer,
      clock,
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

describe.each(databases)('log_retention_days, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('deletes older records of the organisation alone, with all that belongs to them', async () => {
    const em = () => plane.control.services.database.em();
    const other = await plane.newTenant();
    const stored: Record<string, string> = {};
    for (const [name, tenant, days] of [
      ['old', plane, 6],
      ['young', plane, 4],
      ['of another', other, 6],
    ] as const) {
      const { organisationId, workspaceId } = tenant;
      const record = sampleRecord({ organisationId, workspaceId, createdAt: daysAgo(days) });
      const { id, createdAt } = record;
      const side = { headers: {}, body: 'text', omitted: null };
      await plane.internal('POST', '/records', [record]);
      await plane.internal('POST', '/record-contents', [
        { id, createdAt, organisationId, workspaceId, request: side, response: side },
      ]);
      await em().execute(
        'insert into limit_entries (record_id, key, start_ms, organisation_id, created_at, amount) values (?, ?, 1, ?, ?, 1)',
        [...[id, `key of ${name}`, organisationId, createdAt]],
      );
      stored[name] = id;
    }
    const put = (days: unknown) => plane.ask('PUT', '/organisations/self', { body: { settings: { log_retention_days: days } } });
    const refused = await put(0);
    expect([refused.status, refused.body.data.message]).toEqual([400, expect.stringContaining('settings.log_retention_days: ')]);
    expect((await put(5)).status).toBe(200);
    const { settings, database: store, clickhouse, mailer, clock } = plane.control.services;
    const run = async (recordRetentionDays: number) => {
      for (const task of housekeepingTasks.filter(({ name }) => name.startsWith('delete'))) {
        const services = {
          settings: { ...settings, recordRetentionDays },
          database: store,
          clickhouse,
          mailer,
          clock,
          log: newMemoryLog(),
        };
        await task.run({ ...services, isClosing: () => false });
      }
    };
    await run(30);
    const left = async (table: string, column = 'id') =>
      (await em().execute(`select ${column} as id from ${table} order by 1`)).map(({ id }) => id);
    const kept = [stored.young, stored['of another']].sort();
    expect([await left('request_records'), await left('record_contents'), await left('limit_entries', 'record_id')]).toEqual([
      ...[kept, kept, kept],
    ]);
    // Roll-ups still contain the deleted record, and the verification leaves its day out.
    const summed = await em().execute(
      `select sum(requests)::int as count from usage_rollups where grain = 'day' and organisation_id = ?`,
      [plane.organisationId],
    );
    expect(summed).not.toEqual([{ count: 0 }]);
    const differencesWith = async (retention: Retention) =>
      (await verifyLedger(em(), retention)).differences.filter(({ where }) => where.includes(plane.organisationId));
    expect(await differencesWith({ all: null, earlier: [] })).not.toEqual([]);
    expect(await differencesWith(await readRetention(em(), { recordRetentionDays: 30 }, Date.now()))).toEqual([]);
    await put(null);
  });
});

it.each([
  ['only the deployment', 30, [null, null], 30, []],
  ['a shorter one', 30, [7, null], 30, [7]],
  ['all shorter: whole days are dropped after the longest', 30, [7, 9], 9, [7]],
  ['a longer one has no effect', 30, [90, null], 30, []],
  ['no limit of the deployment', 0, [7, null], null, [7]],
  ['no limit of the deployment, and all organisations have one', 0, [7, 9], 9, [7]],
  ['no limit', 0, [null, null], null, []],
] as const)('limits of two organisations: %s', async (_what, deployment, days, all, earlier) => {
  const now = 1_000 * dayMs;
  const rows = days.map((one, at) => ({ id: `organisation-${at}`, days: one }));
  const found = await readRetention({ execute: () => Promise.resolve(rows) } as never, { recordRetentionDays: deployment }, now);
  expect(found.all).toEqual(all === null ? null : new Date(now - all * dayMs));
  expect(found.earlier.map(({ before }) => (now - before.getTime()) / dayMs)).toEqual(earlier);
});
