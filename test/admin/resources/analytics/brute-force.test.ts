import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grains } from '../../../../admin/analytics/grains.ts';
import { relativeAccuracy } from '../../../../admin/analytics/latency-bins.ts';
import { rebuildDay } from '../../../../admin/analytics/rebuild-rollups.ts';
import { sumDays } from '../../../../admin/analytics/sum-days.ts';
import { graphReplies } from '../../../../admin/resources/analytics/schema.ts';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { until } from '../../../support/until.ts';
import type { Plane } from '../../support/plane.ts';
import { copied, recordStores, startPlaneOn } from '../../support/record-stores.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { columnsOf, filterCases, groupCases, grouped, type Priced, quantileOf, sum } from './expected.ts';
import { randomUsage } from './random-usage.ts';

const nowMs = Date.parse('2099-11-20T15:47:12.345Z');
const day = 86_400_000;

/** Ranges in minutes, in hours and in days, with and without whole days at their ends. */
const ranges = {
  'two hours': [nowMs - 7_000_000, nowMs],
  'two days': [nowMs - 2 * day, nowMs - 3_333_333],
  // Nine days contain a whole week, and eighteen days contain two. Both begin and end within a week.
  'nine days': [nowMs - 9 * day, nowMs],
  'eighteen days': [nowMs - 18 * day, nowMs],
  'whole days': [Date.parse('2099-11-13T00:00:00Z'), Date.parse('2099-11-20T00:00:00Z')],
} as const;

const ofKey = 'api_key_ids=11111111-1111-4111-8111-111111111111';
const cases: readonly (readonly [keyof typeof ranges, string])[] = [
  ['two hours', ''],
  ['two hours', 'status_code=200,502&virtual_keys=openai-prod'],
  ['two days', 'configs=main&prompt_slug=pp-a'],
  ['nine days', ''],
  ['nine days', 'ai_org_model=openai__gpt-4o,anthropic__claude-sonnet-4-5'],
  ['eighteen days', ''],
  ['eighteen days', ofKey],
  ['whole days', ofKey],
];
/**
 * Returns the paths that a case compares: all of them if it is the only one of its range, else every second one, so that the cases of a range compare
 * each path once. LONG_TESTS compares all in each case.
 */
function pathsOf(all: readonly string[], range: string, query: string): readonly string[] {
  if (process.env.LONG_TESTS) return all;
  const ofRange = cases.filter(([name]) => name === range);
  const turn = ofRange.findIndex((one) => one[1] === query);
  return all.filter((_, at) => at % ofRange.length === turn);
}

/** The embedded database runs the statements of the server, so it gets each kind of case once if there is a server. */
const isBrief = (store: string) => store === 'PGlite' && !ruleDatabases.includes('PGlite');

describe.each(recordStores)('analytics, on %s', (store) => {
  const some = <T>(all: readonly T[]): readonly T[] => (isBrief(store) ? all.slice(0, 1) : all);
  let plane: Plane;
  let records: RequestRecord[];
  let costs: ReadonlyMap<string, number>;
  /** Nano-USD that cached replies saved, by record. */
  let savings: ReadonlyMap<string, number>;
  const workspaceSlugs = new Map<string, string>();
  beforeAll(async () => {
    plane = await startPlaneOn(store, { clock: { now: () => nowMs, elapsed: () => performance.now() } });
    const second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id as string;
    for (const { id, slug } of (await plane.ask('GET', '/admin/workspaces')).body.data) workspaceSlugs.set(id, slug);
    const tenant = { organisationId: plane.organisationId, workspaceIds: [plane.workspaceId, second] };
    records = [...randomUsage(7, 600, nowMs, tenant), ...randomUsage(10, 150, nowMs - 9 * day, tenant)];
    const foreign = await plane.newTenant();
    const others = randomUsage(8, 50, nowMs, { organisationId: foreign.organisationId, workspaceIds: [foreign.workspaceId] });
    // In any order, so that late records go to buckets that exist; every batch overlaps the one before.
    const all = [...records, ...others].sort((left, right) => (left.id < right.id ? -1 : 1));
    for (let at = 0; at < all.length; at += 90) {
      // Some records arrive before their days are summed, and some later.
      if (at === 360) await sumDays(plane.control.services.database, nowMs);
      expect((await plane.internal('POST', '/records', all.slice(Math.max(0, at - 30), at + 90))).status).toBe(200);
    }
    await copied(plane);
    await readCosts();
  });
  afterAll(() => plane?.close());

  const em = () => plane.control.services.database.em();
  const readCosts = async () => {
    const rows = await em().execute<{ id: string; cost: number; saved: number }[]>(
      `select id, coalesce(cost_micro_usd * 1000 + cost_nano_rest, 0)::float8 as cost, coalesce(saved_nano, 0)::float8 as saved
       from request_records`,
    );
    costs = new Map(rows.map(({ id, cost }) => [id, cost]));
    savings = new Map(rows.map(({ id, saved }) => [id, saved]));
  };
  const read = async (path: string, range: readonly [number, number], query = '') => {
    const [min, max] = range.map((ms) => new Date(ms).toISOString());
    const reply = await plane.ask(
      'GET',
      `/analytics/${path}?time_of_generation_min=${min}&time_of_generation_max=${max}&${query}`,
    );
    expect(reply.body).toMatchObject({ object: expect.any(String) });
    return reply.body;
  };
  /** The records in the range, widened to whole minutes or hours as documented. */
  const recordsIn = ([from, to]: readonly [number, number]) => {
    const step = to - from <= 3 * 3_600_000 ? 60_000 : 3_600_000;
    const [first, end] = [Math.floor(from / step) * step, Math.ceil(to / step) * step];
    return records.filter(({ createdAt }) => Date.parse(createdAt) >= first && Date.parse(createdAt) < end);
  };
  const pricedIn = (range: readonly [number, number]): Priced[] =>
    recordsIn(range).map((record) => ({ record, cost: costs.get(record.id) ?? 0 }));
  const tokensOf = (one: RequestRecord) => one.inputTokens + one.cacheReadTokens + one.cacheWriteTokens + one.outputTokens;
  /** The workspace is replaced by its slug, as replies name it. */
  const named = (record: RequestRecord): RequestRecord => ({
    ...record,
    workspaceId: workspaceSlugs.get(record.workspaceId ?? '') ?? null,
  });

  describe.each(Object.entries(ranges))('over %s', (_name, range) => {
    it('sums the same as the records', async () => {
      const expected = recordsIn(range);
      expect(expected.length).toBeGreaterThan(50);
      const graph = async (name: string) => (await read(`graphs/${name}`, range)).summary;
      expect(await graph('requests')).toEqual({ total: expected.length });
      expect((await graph('cost')).total).toBeCloseTo(sum(expected.map(({ id }) => costs.get(id) ?? 0)) / 1e7, 6);
      expect((await graph('tokens')).total).toBe(sum(expected.map(tokensOf)));
      const failed = expected.filter(({ outcome }) => outcome !== 'success');
      expect(await graph('errors')).toEqual({ total: failed.length });
      const users = expected.flatMap(({ metadata }) => metadata._user ?? []);
      expect(await graph('users/requests')).toMatchObject({ total: users.length, unique: new Set(users).size });
      const hits = expected.filter(({ cacheStatus }) => cacheStatus?.endsWith('HIT'));
      expect(await graph('cache/hit-rate')).toMatchObject({ total: hits.length });
      const savedBy = (status: string) => {
        const nano = expected.map((one) => (one.cacheStatus === status ? (savings.get(one.id) ?? 0) : 0));
        return sum(nano) / 1e7;
      };
      expect(savedBy('SEMANTIC HIT')).toBeGreaterThan(0);
      const last = (await read('graphs/cache/hit-rate', range)).data_points.at(-1);
      expect(last.cumulative_simple_cache_savings).toBeCloseTo(savedBy('HIT'), 6);
      expect(last.cumulative_semantic_cache_savings).toBeCloseTo(savedBy('SEMANTIC HIT'), 6);
      const succeeded = expected.filter(({ outcome }) => outcome === 'success');
      expect(await graph('requests/rescued')).toEqual({
        retry: succeeded.filter(({ retryAttemptCount }) => retryAttemptCount > 0).length,
        fallback: succeeded.filter(({ attempts }) => attempts.length > 1).length,
      });
      const latency = await graph('latency');
      const sorted = expected.map(({ durationMs }) => Math.max(1, durationMs)).sort((left, right) => left - right);
      for (const [name, quantile] of [
        ['p50', 0.5],
        ['p90', 0.9],
        ['p99', 0.99],
      ] as const) {
        const exact = quantileOf(sorted, quantile);
        expect(Math.abs(latency[name] - exact)).toBeLessThanOrEqual(exact * relativeAccuracy * 1.001);
      }
    });
  });

  it.each(some(filterCases))('sums the records that pass the filter %j', async (query, passes) => {
    const range = ranges['nine days'];
    const expected = pricedIn(range).filter(({ record, cost }) => passes({ record: named(record), cost }));
    expect(expected.length).toBeGreaterThan(3);
    const graph = async (name: string) => (await read(`graphs/${name}`, range, query)).summary.total;
    expect(await graph('requests')).toBe(expected.length);
    expect(await graph('cost')).toBeCloseTo(sum(expected.map(({ cost }) => cost)) / 1e7, 6);
    expect(await graph('tokens')).toBe(sum(expected.map(({ record }) => tokensOf(record))));
    expect(await graph('errors')).toBe(expected.filter(({ record }) => record.outcome !== 'success').length);
  });

  it.each(some(['api_key,model', 'prompt_version,status_code,workspace', ...Object.keys(groupCases)]))(
    'groups by %s as the records do',
    async (names) => {
      const range = ranges['nine days'];
      const of = (record: RequestRecord) =>
        Object.assign({}, ...names.split(',').map((name) => groupCases[name]?.(named(record))));
      const expected = [...grouped(pricedIn(range), of)].map(([name, all]) => ({ ...JSON.parse(name), ...columnsOf(all) }));
      const columns = Object.keys(expected[0] ?? {}).filter((name) => name in columnsOf(pricedIn(range)));
      const { data, total } = await read(`groups/${names}`, range, `columns=${columns}&page_size=1000`);
      expect(total).toBe(expected.length);
      // The number of groups is known on every page, also after the last.
      expect(await read(`groups/${names}`, range, 'page_size=1&current_page=5000')).toMatchObject({ data: [], total });
      expect(await read(`groups/${names}`, range, 'page_size=0')).toEqual(await read(`groups/${names}`, range));
      for (const one of expected) {
        const keys = Object.keys(one).filter((name) => !columns.includes(name));
        const found = data.find((row: Record<string, unknown>) => keys.every((key) => row[key] === one[key]));
        for (const column of columns) {
          const [actual, wanted] = [found?.[column], one[column]];
          const slack = /p9\d_/.test(column) ? wanted * relativeAccuracy * 1.001 : Math.abs(wanted) * 1e-9 + 1e-3;
          const isEqual = typeof wanted === 'string' ? actual === wanted : Math.abs(actual - wanted) <= slack;
          expect({ group: keys.map((key) => one[key]), column, actual, wanted, isEqual }).toMatchObject({ isEqual: true });
        }
      }
    },
  );

  // ClickHouse has no roll-ups.
  it.each(store === 'ClickHouse' ? [] : some(cases))(
    'reads roll-ups and records alike, over %s with the filters %j',
    async (name, query) => {
      const range = ranges[name];
      // A filter that every request passes, and that only records can serve.
      const onRecords = `${query}&total_units_min=0`;
      const columns =
        'columns=cost,avg_tokens,avg_latency,p95_latency,p99_latency,success_rate,cache_hit_rate,first_seen,last_seen';
      const paths = [
        ...Object.keys(graphReplies).map((name) => `graphs/${name}`),
        ...['summary/cache', 'groups/users', 'groups/ai-models', 'groups/workspaces'],
        ...['api_key,model', 'status_code', 'provider', 'config', 'prompt', 'prompt_version,model'].map(
          (names) => `groups/${names}`,
        ),
      ];
      for (const path of pathsOf(paths, name, query)) {
        const isGrouped = /^groups\/(?!users|ai-models|workspaces)/.test(path);
        const more = isGrouped ? `&${columns}` : '';
        const fromRollups = await read(path, range, `${query}${more}`);
        if (isGrouped) expect([path, fromRollups.data.length > 0]).toEqual([path, true]);
        expect([path, fromRollups]).toEqual([path, await read(path, range, `${onRecords}${more}`)]);
      }
    },
  );

  it('counts a session by its last record', async () => {
    const range = [nowMs - 20 * day, nowMs - 19 * day] as const;
    const session = { messagesFromClient: 1, messagesFromProvider: 1, closeCode: null, closedBy: null };
    const [record] = randomUsage(9, 1, nowMs, { organisationId: plane.organisationId, workspaceIds: [plane.workspaceId] });
    const at = { createdAt: new Date(nowMs - 19.5 * day).toISOString(), cacheStatus: null, session };
    const first = { ...record, ...at, id: randomUUID(), outcome: 'open', status: 101, checkpoint: 1, outputTokens: 5 };
    const last = { ...first, outcome: 'failed', status: 502, checkpoint: undefined, outputTokens: 9, durationMs: 90_000 };
    for (const batch of [[first], [last], [first]]) await plane.internal('POST', '/records', batch);
    await copied(plane);
    expect((await read('graphs/requests', range)).summary).toEqual({ total: 1 });
    expect((await read('graphs/errors', range)).summary).toEqual({ total: 1 });
    expect((await read('graphs/latency', range)).summary.p50 / 90_000).toBeCloseTo(1, 1);
    expect((await read('groups/status_code', range)).data).toMatchObject([{ status_code: 502, requests: 1 }]);
    expect((await read('groups/status_code', range)).data).toHaveLength(1);
  });

  it('follows a repricing', async () => {
    const range = ranges['nine days'];
    const pricing_config = { type: 'static', pay_as_you_go: { request_token: { price: 7 }, response_token: { price: 11 } } };
    const models = [{ slug: 'gpt-4o', enabled: true, is_custom: true, pricing_config }];
    const integration = { name: 'O', slug: 'o', ai_provider_id: 'openai', key: 'sk-1' };
    for (const [method, path, body] of [
      ['POST', '/integrations', integration],
      ['PUT', '/integrations/o/models', { models }],
      ['POST', '/providers', { name: 'P', slug: 'openai-prod', integration_id: 'o', workspace_id: plane.workspaceId }],
    ] as const) {
      expect([path, (await plane.ask(method, path, { body })).status]).toEqual([path, 200]);
    }
    const [min, max] = range.map((ms) => new Date(ms).toISOString());
    const body = { time_of_generation_min: min, time_of_generation_max: max };
    const { id } = (await plane.ask('POST', '/ledger/repricings', { body })).body;
    const done = async () => (await plane.ask('GET', `/ledger/repricings/${id}`)).body.status === 'success';
    await until(done, { what: 'the end of the repricing' });
    await copied(plane);
    const before = sum([...costs.values()]);
    await readCosts();
    expect(sum([...costs.values()])).not.toBe(before);
    const expected = sum(pricedIn(range).map(({ cost }) => cost)) / 1e7;
    for (const query of ['', 'status_code=200,246,502,429,412,499', 'total_units_min=0']) {
      expect((await read('graphs/cost', range, query)).summary.total).toBeCloseTo(expected, 6);
      const groups = (await read('groups/api_key,model', range, `${query}&columns=cost`)).data as { cost: number }[];
      expect(sum(groups.map(({ cost }) => cost))).toBeCloseTo(expected, 6);
    }
  });

  it('writes the same roll-ups again from the records', async () => {
    // The first day ends a week that is summed. Rows of the day before, and of other weeks, stay as they are.
    const from = Date.parse('2099-11-18T00:00:00Z');
    const end = from + (process.env.LONG_TESTS ? 3 : 1) * day;
    const isChanged = `(starts_at >= ? or grain like 'week%' and starts_at >= ?) and starts_at < ?`;
    const changed = [new Date(from), new Date(from - 6 * day), new Date(end)];
    const rows = () =>
      em().execute(
        `select to_jsonb(r) || jsonb_build_object('latency', add_packed_counts(latency, '{}'), 'retries', add_packed_counts(retries, '{}'))
        as row from usage_rollups r where requests > 0 and starts_at >= ? and (grain <> ? or starts_at >= ?)
        order by organisation_id, grain, starts_at, key`,
        // Housekeeping deletes minutes after two days.
        [new Date(from - 14 * day), grains.minute.name, new Date(nowMs - 2 * day)],
      );
    const before = await rows();
    expect(before.length).toBeGreaterThan(500);
    await em().execute(`update usage_rollups set requests = 7, cost_nano = 7, latency = '{}' where ${isChanged}`, changed);
    await em().execute(`delete from usage_rollups where ${isChanged} and status = 502`, changed);
    expect(await rows()).not.toEqual(before);
    for (let startMs = from; startMs < end; startMs += day) await rebuildDay(em(), { fromMs: startMs, toMs: startMs + day });
    expect(await rows()).toEqual(before);
  });
});
