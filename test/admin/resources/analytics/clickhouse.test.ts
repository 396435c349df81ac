import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CopyPosition,
  copyStoredRecords,
  sendRefusedAgain,
} from '../../../../admin/analytics/clickhouse/copy-stored-records.ts';
import { prepareTable } from '../../../../admin/analytics/clickhouse/record-table.ts';
import type { ClickHouse } from '../../../../admin/clickhouse/clickhouse.ts';
import { deleteOldCopies } from '../../../../admin/resources/analytics/delete-old-copies.ts';
import { graphReplies } from '../../../../admin/resources/analytics/schema.ts';
import { clickhouseMissing, startClickHouse, type TestClickHouse } from '../../../support/processes/clickhouse.ts';
import { until } from '../../../support/until.ts';
import { type Plane, startPlane, startPlaneWith, type Tenant } from '../../support/plane.ts';
import { copied } from '../../support/record-stores.ts';
import { randomUsage } from './random-usage.ts';

const nowMs = Date.parse('2099-11-20T15:47:12.345Z');
const clock = { now: () => nowMs, elapsed: () => performance.now() };
const day = 86_400_000;
const range = `time_of_generation_min=${new Date(nowMs - 9 * day).toISOString()}&time_of_generation_max=${new Date(nowMs).toISOString()}`;

if (clickhouseMissing) console.warn(`skipped: ${clickhouseMissing}`);

describe.skipIf(clickhouseMissing !== null)('records in ClickHouse', () => {
  let clickhouse: TestClickHouse;
  let plane: Plane;
  /** Reads the same database without ClickHouse. */
  let plain: Plane;
  let foreign: Tenant;
  beforeAll(async () => {
    clickhouse = await startClickHouse();
    plane = await startPlane('PGlite', { ANALYTICS_URL: clickhouse.url }, { clock });
    const { database } = plane.control.services;
    plain = await startPlaneWith({ ...plane.settings, analyticsUrl: null, controlPlanePort: 0 }, { database, clock });
    foreign = await plane.newTenant();
    const tenants = [plane, foreign];
    const records = tenants.flatMap(({ organisationId, workspaceId }, at) =>
      randomUsage(20 + at, 150, nowMs, { organisationId, workspaceIds: [workspaceId] }),
    );
    expect((await plane.internal('POST', '/records', records)).body).toMatchObject({ inserted: 300 });
    const key = await plane.newKey(['logs.write']);
    for (const [trace_id, value, weight] of [
      ['trace-1', 10, 1],
      ['trace-1', -4, 0.5],
      ['trace-2', 3, 1],
      ['unknown', 1, 1],
    ] as const) {
      await plane.ask('POST', '/feedback', { key, body: { trace_id, value, weight } });
    }
    // Feedback has the real time, which is not in the range.
    await database.em().execute('update feedbacks set created_at = ?', [new Date(nowMs - day)]);
    await copied(plane);
  });
  afterAll(async () => {
    await plain?.close();
    await plane?.close();
    await clickhouse?.close();
  });

  const both = async (path: string, key = plane.adminKey) => {
    const [found, expected] = await Promise.all([plane, plain].map((one) => one.ask('GET', path, { key })));
    return { found, expected };
  };

  const filters = [
    '',
    '&metadata={"team":"a"}',
    '&weighted_feedback_min=1',
    '&trace_id=trace-1',
    '&status_code=200&prompt_slug=pp-a',
  ];
  it.each([
    ...Object.keys(graphReplies).map((name) => `/analytics/graphs/${name}`),
    ...['/analytics/groups/metadata/team', '/analytics/groups/users', '/analytics/groups/ai-models', '/analytics/summary/cache'],
    '/analytics/groups/api_key,model',
    '/logs/metadata/team',
    ...['model', 'prompt_version', 'status_code', 'workspace'].map((name) => `/logs/groups/${name}`),
    '/logs/groups/metadata/_user',
    ...['/logs/metadata', '/logs'],
  ])('%s replies as without ClickHouse', async (path) => {
    const columns = path.startsWith('/logs/groups')
      ? '&include_total=true&columns=cost,total_tokens,avg_latency,p95_latency,success_rate,error_count,cache_hit_rate,last_seen'
      : '';
    for (const filter of filters) {
      const { found, expected } = await both(encodeURI(`${path}?${range}${filter}${columns}`));
      expect([filter, expected.status]).toEqual([filter, 200]);
      expect([filter, near(found.body)]).toEqual([filter, near(expected.body)]);
    }
  });

  it('shows a record by its id and by its trace', async () => {
    const [first] = (await plane.ask('GET', '/logs?page_size=1')).body.data;
    for (const id of [first._id, first.trace_id]) {
      const { found, expected } = await both(`/logs/${id}`);
      expect(near(found.body)).toEqual(near(expected.body));
      expect(found.body.trace_id).toBe(first.trace_id);
      expect((await plane.ask('GET', `/logs/${first._id}`, { key: foreign.adminKey })).status).toBe(404);
    }
  });

  it('another organisation reads only its own records', async () => {
    const { found, expected } = await both(`/logs?${range}&page_size=100&include_total=true`, foreign.adminKey);
    expect(near(found.body)).toEqual(near(expected.body));
    const own = await plane.ask('GET', `/logs?${range}&page_size=100`);
    const ids = new Set(own.body.data.map((one: { _id: string }) => one._id));
    expect(found.body.data.filter((one: { _id: string }) => ids.has(one._id))).toEqual([]);
  });

  it('values of filters are no part of the statement', async () => {
    for (const value of ["' or 1=1 --", '\\', '{p0:String}', '\\N', 'ü😀']) {
      for (const filter of [
        `ai_model=${encodeURIComponent(value)}`,
        `metadata=${encodeURIComponent(JSON.stringify({ [value]: value }))}`,
      ]) {
        expect((await plane.ask('GET', `/logs?${filter}`)).body).toMatchObject({ data: [] });
      }
    }
  });

  it('exports read records from ClickHouse', async () => {
    const key = await plane.newKey(['logs.export', 'logs.list']);
    const body = { filters: { ai_model: 'gpt-4o' }, requested_data: ['id'] };
    const created = await plane.ask('POST', '/logs/exports', { key, body });
    expect(created.body.total).toBe((await plain.ask('POST', '/logs/exports', { key, body })).body.total);
    expect(created.body.total).toBeGreaterThan(5);
  });

  it('clickhouse:copy copies the stored records, each once', async () => {
    const listed = async () => (await plane.ask('GET', `/logs?${range}&page_size=100&include_total=true`)).body;
    const before = await listed();
    await clickhouse.ask('alter table request_records delete where status = 200 settings mutations_sync = 1');
    expect((await listed()).total).toBeLessThan(before.total);
    let position: CopyPosition | null = null;
    for (let count = 1; count > 0; ) {
      const done = await copyStoredRecords(plane.control.services.database.em(), position);
      [count, position] = [done.count, done.last ?? position];
    }
    await copied(plane);
    expect(near(await listed())).toEqual(near(before));
  });

  it('deletes days after ANALYTICS_RETENTION_DAYS, and records after log_retention_days', async () => {
    const { services } = plane.control;
    const days = async () =>
      clickhouse.ask(
        "select distinct partition as day from system.parts where active and table = 'request_records' order by day",
      );
    const before = await days();
    await deleteOldCopies({ ...services, settings: { ...services.settings, analyticsRetentionDays: 5 } }, nowMs);
    const since = new Date(nowMs - 5 * day).toISOString().slice(0, 10).replaceAll('-', '');
    expect(before.some(({ day }) => String(day) < since)).toBe(true);
    expect((await days()).filter(({ day }) => String(day) < since)).toEqual([]);
    const oldest = async (tenant: Tenant) =>
      (
        await clickhouse.ask(
          `select toUnixTimestamp64Milli(min(created_at)) as ms from request_records where organisation_id = '${tenant.organisationId}'`,
        )
      )[0]?.ms as number;
    await plane.ask('PUT', '/organisations/self', { key: foreign.adminKey, body: { settings: { log_retention_days: 2 } } });
    await deleteOldCopies(services, nowMs);
    expect(Number(await oldest(foreign))).toBeGreaterThanOrEqual(nowMs - 2 * day);
    expect(Number(await oldest(plane))).toBeLessThan(nowMs - 2 * day);
  });

  it('a batch that ClickHouse refuses stays in the database, does not block others, and can be sent again', async () => {
    const em = plane.control.services.database.em();
    const { organisationId, workspaceId } = plane;
    const [record] = randomUsage(31, 1, nowMs, { organisationId, workspaceIds: [workspaceId] });
    await em.execute('insert into record_copies (id, lines) values (nextval(\'record_copies_id\'), \'{"id": "no UUID"}\')');
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1 });
    const rows = () => em.execute<{ refused_for: string | null }[]>('select refused_for from record_copies');
    await until(async () => (await rows()).length === 1 && (await rows())[0]?.refused_for !== null, {
      what: 'the refused batch alone',
    });
    expect((await plane.ask('GET', `/logs/${record?.id}`)).status).toBe(200);
    expect((await rows())[0]?.refused_for).toMatch(/^ClickHouse rejected a statement: CANNOT_PARSE/);
    expect(plane.log.lines.filter(({ message }) => message.includes('refused a batch'))).toHaveLength(1);
    const metrics = await (await fetch(`${plane.url}/metrics`)).text();
    expect(metrics).toMatch(/^svc_record_copies\{.*state="refused".*\} 1$/m);
    expect(await sendRefusedAgain(em)).toBe(1);
    await em.execute('delete from record_copies');
  });

  it('adds the columns that a table of an earlier version lacks', async () => {
    await clickhouse.ask(
      'alter table request_records drop column semantic_hits, drop column price_source settings mutations_sync = 1',
    );
    const names = async () => (await clickhouse.ask('describe table request_records')).map(({ name }) => name);
    expect(await names()).not.toContain('semantic_hits');
    await prepareTable(plane.control.services.clickhouse as ClickHouse);
    expect(await names()).toEqual(expect.arrayContaining(['semantic_hits', 'price_source']));
  });

  it('while ClickHouse is away records are stored and wait, reads are 503, and no secret is logged', async () => {
    await clickhouse.stop();
    const { organisationId, workspaceId } = plane;
    const [record] = randomUsage(30, 1, nowMs, { organisationId, workspaceIds: [workspaceId] });
    expect((await plane.internal('POST', '/records', [record])).body).toMatchObject({ inserted: 1 });
    const ready = async () => (await fetch(`${plane.url}/ready`)).json() as Promise<{ warnings?: string[] }>;
    await until(async () => (await ready()).warnings?.some((one) => one.includes('ANALYTICS_URL')) === true, {
      what: 'the warning',
    });
    const reply = await plane.ask('GET', '/logs');
    expect([reply.status, reply.body.data.message]).toEqual([503, expect.stringContaining('ANALYTICS_URL')]);
    expect((await fetch(`${plane.url}/ready`)).status).toBe(200);
    expect(JSON.stringify([plane.log.lines, reply.body, await ready()])).not.toContain('planted-secret');
    await clickhouse.start();
    await copied(plane);
    expect((await plane.ask('GET', `/logs/${record?.id}`)).status).toBe(200);
    expect((await ready()).warnings).toBeUndefined();
  });
});

/** Rounds numbers, because sums of fractions depend on their order, and sorts metadata, whose order PostgreSQL does not keep. */
function near(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, each) => {
      if (name.startsWith('metadata.')) return [...each].sort();
      return typeof each === 'number' ? Number(each.toPrecision(9)) : each;
    }),
  );
}
