import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { rebuildDay } from '../admin/analytics/rebuild-rollups.ts';
import { openDatabase } from '../admin/db/open-database.ts';
import { storeBatch } from '../admin/gateway-api/store-records.ts';
import { entities, migrations } from '../admin/tables.ts';
import { startPlaneWith, testSettings } from '../test/admin/support/plane.ts';
import { newReadyDatabase } from '../test/admin/support/test-database.ts';
import { newMemoryLog } from '../test/support/memory-log.ts';
import { keys, models, newBatches } from './records/new-batches.ts';

/**
 * `node bench/analytics.ts --records 10000000` generates records of the last 30 days with SQL, builds their roll-ups, and measures the analytics
 * routes, also while further records arrive at `--rate` per second. PostgreSQL is the server of TEST_DATABASE_URL; the database is dropped at the end.
 */
const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    rate: { type: 'string', default: '5000' },
    times: { type: 'string', default: '20' },
  },
});
const [recordCount, rate, times] = [Number(options.records), Number(options.rate), Number(options.times)];
/** As gateways send them. */
const batchSize = 500;
const [dayMs, days] = [86_400_000, 30];

const dataDir = await mkdtemp(join(tmpdir(), 'svc-bench-analytics-'));
const database = await newReadyDatabase();
const limits = { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0' };
const settings = testSettings(dataDir, { ...limits, DATABASE_URL: database.url });
const plane = await startPlaneWith(settings);
const { organisationId, workspaceId } = plane;
const newBatch = newBatches(plane, batchSize);

const store = (body: Buffer) => storeBatch(plane.control.services.storeRecords, body);

/** Generates the records of each day with one statement, and then their roll-ups. */
async function fill(): Promise<void> {
  const store = await openDatabase(settings, { entities, migrations }, newMemoryLog(), { hasQueryTimeout: false });
  const em = store.em();
  const startedMs = performance.now();
  const took = () => `${((performance.now() - startedMs) / 1000).toFixed(0)} s`;
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const keyList = keys.map((key) => `'${key}'`).join(', ');
  const modelList = models.map((model) => `'${model}'`).join(', ');
  await em.execute('set synchronous_commit = off');
  for (let day = days; day > 0; day--) {
    await em.execute(
      `insert into request_records (id, organisation_id, workspace_id, trace_id, created_at, status, outcome, provider, provider_slug, model,
         config_slug, api_key_id, cost_micro_usd, cost_nano_rest, price_source, record)
       select gen_random_uuid(), ?, ?, gen_random_uuid()::text, at, case when ok then 200 else 502 end, outcome, 'openai', 'openai-prod',
         (array[${modelList}])[1 + floor(${models.length} * power(random(), 3))::int], 'config-' || floor(5 * power(random(), 3)),
         (array[${keyList}])[1 + floor(${keys.length} * power(random(), 3))::int], floor(random() * 5000), 0, 'public',
         jsonb_build_object('durationMs', exp(5 + 4 * random()), 'inputTokens', floor(random() * 4000), 'cacheReadTokens', 0,
           'cacheWriteTokens', 0, 'outputTokens', floor(random() * 800), 'retryAttemptCount', 0, 'attempts', '[]'::jsonb, 'userId', null,
           'cacheStatus', null, 'metadata', jsonb_build_object('_user', 'user-' || floor(2000 * power(random(), 3))))
       from (select at, ok, case when ok then 'success' else 'failed' end as outcome
         from (select to_timestamp((?::float8 + random() * ${dayMs}) / 1000) as at, random() > 0.02 as ok
           from generate_series(1, ?::int) offset 0) a) b`,
      [organisationId, workspaceId, today - day * dayMs, Math.round(recordCount / days)],
    );
  }
  console.log(`${recordCount} records generated after ${took()}`);
  for (let day = days; day > 0; day--) {
    const fromMs = today - day * dayMs;
    await rebuildDay(store.em(), { fromMs, toMs: fromMs + dayMs });
  }
  await em.execute('vacuum analyze usage_rollups');
  console.log(`roll-ups rebuilt after ${took()}`);
  console.log(await em.execute('select grain, count(*)::int as rows from usage_rollups group by 1 order by 1'));
  await store.close();
}

/** Stores records of now at the rate until stopped. Returns the number per second that were stored. */
async function ingest(signal: AbortSignal): Promise<number> {
  const startedMs = performance.now();
  let stored = 0;
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * rate);
    if (due - stored < batchSize) await pause(5);
    else {
      await store(newBatch(Date.now()));
      stored += batchSize;
    }
  }
  return (stored / (performance.now() - startedMs)) * 1000;
}

const span = (length: number) =>
  `time_of_generation_min=${new Date(Date.now() - length * dayMs).toISOString()}&time_of_generation_max=${new Date().toISOString()}`;
const columns = 'columns=cost,avg_tokens,p95_latency,success_rate&order_by=cost';
const queries: Readonly<Record<string, () => string>> = {
  'requests, 2 hours': () => `graphs/requests?${span(0.08)}`,
  'cost, a day': () => `graphs/cost?${span(1)}`,
  'cost, 30 days': () => `graphs/cost?${span(30)}`,
  'latency, 30 days': () => `graphs/latency?${span(30)}`,
  'latency of one key, 30 days': () => `graphs/latency?${span(30)}&api_key_ids=${keys[3]}`,
  'errors by status, 30 days': () => `graphs/errors/stacks?${span(30)}`,
  'tokens of one model, 30 days': () => `graphs/tokens?${span(30)}&ai_org_model=openai__gpt-4o`,
  'users, 30 days': () => `graphs/users?${span(30)}`,
  'key and model, a day': () => `groups/api_key,model?${span(1)}&${columns}`,
  'key and model, 30 days': () => `groups/api_key,model?${span(30)}&${columns}`,
  'users by cost, 30 days': () => `groups/users?${span(30)}&order_by=cost`,
};

async function measureQueries(): Promise<void> {
  for (const [name, path] of Object.entries(queries)) {
    const tookMs: number[] = [];
    for (let at = 0; at < times; at++) {
      const startedMs = performance.now();
      const reply = await plane.ask('GET', `/analytics/${path()}`);
      tookMs.push(performance.now() - startedMs);
      if (reply.status !== 200) {
        console.log(`${name}: ${reply.status} ${JSON.stringify(reply.body)}`);
        break;
      }
    }
    tookMs.sort((left, right) => left - right);
    const at = (share: number) => (tookMs[Math.ceil(share * tookMs.length) - 1] ?? 0).toFixed(0);
    console.log(`${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
  }
}

try {
  await fill();
  console.log('idle');
  await measureQueries();
  const stop = new AbortController();
  const ingesting = ingest(stop.signal);
  console.log(`while ${rate} records/s arrive`);
  await measureQueries();
  stop.abort();
  console.log(`stored ${Math.round(await ingesting)} records/s meanwhile`);
} finally {
  await plane.close();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
}
