import { parseArgs } from 'node:util';
import { sumRequests } from '../admin/analytics/sum-requests.ts';
import { encodeSums } from '../admin/analytics/write-rollups.ts';
import { parseBatch } from '../admin/gateway-api/parse-batch.ts';
import { storeBatch } from '../admin/gateway-api/store-records.ts';
import { priceRecord } from '../admin/pricing/price-record.ts';
import type { RequestRecord } from '../core/contract/plugin/record/record.ts';
import { keepObjectsYoung } from '../core/contract/values/keep-objects-young.ts';
import { newBatches } from './records/new-batches.ts';
import { startPlane } from './records/start-plane.ts';

/**
 * `node --single-threaded-gc bench/store-records.ts [--pglite] [--alike] [--batches 80]` measures the CPU time that the control plane needs to store a
 * record, as a whole and by parts. The supervisor gives it this flag with PostgreSQL. PostgreSQL is the server of TEST_DATABASE_URL, whose own
 * time is not counted; the embedded database runs in the same process. Each part is measured alone on the same batches, so parts do not add up
 * to the whole: the rest is statements, their results and garbage collection. With `--alike` all records have the same names, as those of an
 * application with one key and model have.
 */
const { values: options } = parseArgs({
  options: {
    batches: { type: 'string', default: '80' },
    pglite: { type: 'boolean', default: false },
    alike: { type: 'boolean', default: false },
  },
});
const [count, warmUp, batchSize] = [Number(options.batches), 20, 500];

const plane = await startPlane(options.pglite);
const newBatch = newBatches(plane, batchSize, options.alike);
// As at the end of the start of a control plane.
keepObjectsYoung();

const times = new Map<string, number>();
/** Adds the CPU time of this process during `work` to a part. */
async function measured<Result>(part: string, work: () => Result | Promise<Result>): Promise<Result> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  times.set(part, (times.get(part) ?? 0) + user + system);
  return result;
}

try {
  let startedMs = 0;
  for (let at = 0; at < count + warmUp; at++) {
    const body = newBatch(Date.now());
    const text = body.toString();
    if (at === warmUp) {
      times.clear();
      startedMs = performance.now();
    }
    await measured('JSON.parse alone', () => JSON.parse(text));
    const { records } = await measured('parse and check', () => parseBatch(body));
    const costs = await measured('price', () => records.map((record: RequestRecord) => priceRecord(record, null).costNanoUsd));
    const requests = records.map((record, index) => ({ record, cost: costs[index] ?? null }));
    const sums = await measured('sum roll-ups', () => sumRequests(requests, Date.now()));
    await measured('encode roll-ups', () => encodeSums(sums));
    await measured('store', () => storeBatch(plane.control.services.storeRecords, body, plane.log));
  }
  const total = count * batchSize;
  const whole = times.get('JSON.parse alone') ?? 0;
  for (const [part, micros] of times)
    console.log(`${part}: ${(micros / total).toFixed(1)} µs of CPU per record, ${(micros / whole).toFixed(2)} × parsing it`);
  console.log(`${Math.round((total / (performance.now() - startedMs)) * 1000)} records/s, with the parts`);
} finally {
  await plane.close();
}
