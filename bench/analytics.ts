import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { sumDays } from '../admin/analytics/sum-days.ts';
import { openDatabase } from '../admin/db/open-database.ts';
import { storeBatch } from '../admin/gateway-api/store-records.ts';
import { entities, migrations } from '../admin/tables.ts';
import { startPlaneWith, testSettings } from '../test/admin/support/plane.ts';
import { newReadyDatabase } from '../test/admin/support/test-database.ts';
import { newMemoryLog } from '../test/support/fakes/memory-log.ts';
import { generateRollups } from './records/generate-rollups.ts';
import { keys, newBatches } from './records/new-batches.ts';

/**
 * `node bench/analytics.ts --records 10000000` generates the roll-ups of records of the last 30 days and of today with SQL and measures the analytics
 * routes, also while further records arrive at `--rate` per second. PostgreSQL is the server of TEST_DATABASE_URL; the database is dropped at the end.
 * `--keep DIR` keeps it instead, and a second run with the same DIR measures it again without generating it. `--only TEXT` measures the queries
 * whose name contains the text.
 */
const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '10000000' },
    rate: { type: 'string', default: '5000' },
    times: { type: 'string', default: '20' },
    keep: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const [recordCount, rate, times] = [Number(options.records), Number(options.rate), Number(options.times)];
/** As gateways send them. */
const batchSize = 500;
const [dayMs, days] = [86_400_000, 30];

const dataDir = options.keep ?? (await mkdtemp(join(tmpdir(), 'svc-bench-analytics-')));
await mkdir(dataDir, { recursive: true });
const urlFile = join(dataDir, 'database-url');
const isKept = existsSync(urlFile);
const database = isKept ? null : await newReadyDatabase();
const databaseUrl = database?.url ?? (await readFile(urlFile, 'utf8'));
const key = Buffer.alloc(32, 1).toString('base64');
const fixed = { ADMIN_REQUESTS_PER_KEY: '0', ADMIN_REQUESTS_PER_ADDRESS: '0', ENCRYPTION_KEY: key, CLUSTER_KEY: key };
const settings = testSettings(dataDir, { ...fixed, DATABASE_URL: databaseUrl });
const plane = await startPlaneWith(settings);
const newBatch = newBatches(plane, batchSize);

const store = (body: Buffer) => storeBatch(plane.control.services.storeRecords, body, plane.log);

/** Generates the roll-ups of the records of each day with one statement, and sums the quarters of today and the weeks. */
async function fill(): Promise<void> {
  const store = await openDatabase(settings, { entities, migrations }, newMemoryLog(), { hasQueryTimeout: false });
  const em = store.em();
  const startedMs = performance.now();
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  for (let day = days; day >= 0; day--) await generateRollups(em, plane, today - day * dayMs, Math.round(recordCount / days));
  // The housekeeping at the start of the control plane found no requests.
  await em.execute(`update rollup_days set quarters_until = ?, weeks_until = '-infinity'`, [new Date(today)]);
  await sumDays(store, Date.now());
  await em.execute('vacuum analyze usage_rollups');
  console.log(`roll-ups of ${recordCount} records after ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
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
    if (!name.includes(options.only)) continue;
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
  if (!isKept) await fill();
  if (options.keep !== undefined) await writeFile(urlFile, databaseUrl);
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
  if (options.keep === undefined) {
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
