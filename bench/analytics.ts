import { parseArgs } from 'node:util';
import type { RequestRecord } from '../core/contract/plugin/record.ts';
import { startPlane } from '../test/admin/support/plane.ts';
import { newReadyDatabase } from '../test/admin/support/test-database.ts';
import { randomFrom } from '../test/support/random-from.ts';
import { sampleRecord } from '../test/support/sample-record.ts';

/**
 * `node bench/analytics.ts --records 1000000 [--pglite]` stores generated records of the last 30 days the way gateways send them, then
 * measures the analytics routes while further records arrive at `--rate` per second. PostgreSQL is the server of TEST_DATABASE_URL.
 */
const { values: options } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '5000' },
    pglite: { type: 'boolean', default: false },
  },
});
const [recordCount, rate] = [Number(options.records), Number(options.rate)];
const [batchSize, dayMs] = [1_000, 86_400_000];
const [keyCount, models] = [100, ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini', 'o3', 'o4-mini', 'gpt-5', 'gpt-5-mini']];

const database = options.pglite ? null : await newReadyDatabase();
const plane = await startPlane(options.pglite ? 'PGlite' : 'PostgreSQL', {
  ...(database ? { DATABASE_URL: database.url } : {}),
  ADMIN_REQUESTS_PER_KEY: '0',
  ADMIN_REQUESTS_PER_ADDRESS: '0',
});
const random = randomFrom(1);
/** Few values are frequent, as in practice. */
const skewed = (count: number) => Math.floor(count * random() ** 3);
const keys = Array.from({ length: keyCount }, () => crypto.randomUUID());
const { organisationId, workspaceId } = plane;

function generate(count: number, atMs: () => number): RequestRecord[] {
  return Array.from({ length: count }, () => {
    const isError = random() < 0.02;
    return sampleRecord({
      organisationId,
      workspaceId,
      apiKeyId: keys[skewed(keyCount)] ?? null,
      createdAt: new Date(atMs()).toISOString(),
      model: models[skewed(models.length)] ?? null,
      configSlug: `config-${skewed(5)}`,
      status: isError ? 502 : 200,
      outcome: isError ? 'failed' : 'success',
      inputTokens: Math.floor(random() * 4_000),
      outputTokens: Math.floor(random() * 800),
      durationMs: Math.exp(5 + 4 * random()),
      metadata: { _user: `user-${skewed(2_000)}`, team: `team-${skewed(20)}` },
    });
  });
}

/** Stores records in batches of gateways, which are of about the same time. Returns CPU microseconds of this process per record. */
async function fill(count: number): Promise<void> {
  const spanMs = 30 * dayMs;
  let [cpuUs, stored] = [0, 0];
  const startedMs = performance.now();
  const endMs = Date.now();
  for (let at = 0; at < count; at += batchSize) {
    const base = endMs - spanMs + (spanMs * at) / count;
    const batch = generate(Math.min(batchSize, count - at), () => base + random() * (spanMs / count) * batchSize);
    const before = process.cpuUsage();
    await plane.control.services.storeRecords(batch);
    const used = process.cpuUsage(before);
    cpuUs += used.user + used.system;
    stored += batch.length;
    if (stored % 100_000 === 0) report(`stored ${stored}`, cpuUs / stored, (stored / (performance.now() - startedMs)) * 1000);
  }
  report(`stored ${stored}`, cpuUs / stored, (stored / (performance.now() - startedMs)) * 1000);
}

function report(what: string, cpuUs: number, perSecond: number): void {
  console.log(`${what}: ${cpuUs.toFixed(1)} µs of CPU per record, ${Math.round(perSecond)} records/s`);
}

/** Stores records of now at the rate until stopped. Returns the number per second that were stored. */
async function ingest(signal: AbortSignal): Promise<number> {
  const startedMs = performance.now();
  let stored = 0;
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * rate);
    if (due - stored < batchSize) await new Promise((resolve) => setTimeout(resolve, 5));
    else {
      await plane.control.services.storeRecords(generate(batchSize, Date.now));
      stored += batchSize;
    }
  }
  return stored / ((performance.now() - startedMs) / 1000);
}

const span = (days: number) =>
  `time_of_generation_min=${new Date(Date.now() - days * dayMs).toISOString()}&time_of_generation_max=${new Date().toISOString()}`;
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

async function measure(times: number): Promise<void> {
  for (const [name, path] of Object.entries(queries)) {
    const tookMs: number[] = [];
    for (let at = 0; at < times; at++) {
      const startedMs = performance.now();
      const reply = await plane.ask('GET', `/analytics/${path()}`);
      tookMs.push(performance.now() - startedMs);
      if (reply.status !== 200) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
    }
    tookMs.sort((left, right) => left - right);
    const at = (share: number) => (tookMs[Math.ceil(share * times) - 1] ?? 0).toFixed(0);
    console.log(`${name}: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
  }
}

try {
  await fill(recordCount);
  const em = plane.control.services.database.em();
  console.log(await em.execute('select grain, count(*)::int as rows from usage_rollups group by 1 order by 1'));
  console.log('idle');
  await measure(20);
  if (rate > 0) {
    const stop = new AbortController();
    const ingesting = ingest(stop.signal);
    console.log(`while ${rate} records/s arrive`);
    await measure(20);
    stop.abort();
    console.log(`stored ${Math.round(await ingesting)} records/s meanwhile`);
  }
} finally {
  await plane.close();
  await database?.drop();
}
