import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantLeases } from '../../../admin/leases/ledger.ts';
import { readUsage } from '../../../admin/leases/read-usage.ts';
import { settleRecords } from '../../../admin/leases/settle.ts';
import { costOf } from '../../../admin/pricing/cost.ts';
import { publicRates } from '../../../admin/pricing/rates.ts';
import type { Rates } from '../../../admin/pricing/units.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import type { Grant } from '../../../core/contract/protocol/limits/leases.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases, ruleDatabases } from '../support/test-database.ts';

const nowMs = Date.parse('2026-11-22T00:00:00.000Z');
/** 0.02 US dollars per million tokens. */
const rates = publicRates('openai', 'text-embedding-3-small', 0, new Date(nowMs)) as Rates;

describe.each(databases)('costs below a micro-USD, on %s', (name) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(name);
  });
  afterAll(() => plane.close());

  interface Key {
    readonly id: string;
    readonly budget: string;
  }

  async function newKey(creditLimit: number): Promise<Key> {
    const usage_limits = { type: 'cost', credit_limit: creditLimit, alert_threshold: 1 };
    const body = { name: 'k', workspace_id: plane.workspaceId, scopes: ['completions.write'], usage_limits };
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    return { id, budget: (await plane.ask('GET', `/api-keys/${id}`)).body.usage_limits.id };
  }

  const read = async (key: Key) => (await plane.ask('GET', `/api-keys/${key.id}?include_usage=true`)).body;

  /** Reads the usage without HTTP: idle connections are closed while a test computes for seconds. */
  async function usageOf({ budget: id }: Key): Promise<number | undefined> {
    const none = { alertThreshold: null, periodicReset: null, periodicResetDays: null, nextUsageResetAt: null };
    const budget = { id, type: 'cost' as const, creditLimit: 100, ...none };
    const em = plane.control.services.database.em();
    return (await readUsage(em, plane.organisationId, [budget], null, nowMs)).get(id)?.currentUsage;
  }

  /** Returns the part of the budget that is not held, in micro-USD. */
  async function remaining(key: Key, capacity: number): Promise<Grant> {
    const ask = {
      ...{ kind: 'budget' as const, key: `budget:${key.budget}`, organisationId: plane.organisationId },
      ...{ scope: 'key' as const, entityId: key.id, unit: 'cost' as const, capacity, alertThreshold: null },
      ...{ need: 0, want: 0, lease: randomUUID(), seq: 1, startMs: 0, kept: 0 },
      ...{ periodicReset: null, periodicResetDays: null, nextUsageResetAt: null, resetAt: null },
    };
    return (await grantLeases(plane.control.services.database, [ask], nowMs))[0] as Grant;
  }

  /** An embedding with this number of tokens. */
  const embedding = (key: Key, inputTokens: number): RequestRecord =>
    sampleRecord({
      ...{ organisationId: plane.organisationId, workspaceId: plane.workspaceId, apiKeyId: key.id },
      ...{ endpoint: 'embed', model: 'text-embedding-3-small', providerSlug: null, inputTokens, outputTokens: 0, rawUsage: null },
      createdAt: new Date(nowMs).toISOString(),
      reservations: [{ key: `budget:${key.budget}`, lease: null, startMs: 0, units: 0 }],
    });

  const priced = (record: RequestRecord) => ({ record, cost: costOf(record, rates).costNanoUsd });
  const settlePriced = (records: Parameters<typeof settleRecords>[1]) =>
    plane.control.services.database.em().transactional((tx) => settleRecords(tx, records, nowMs));
  const settle = (records: readonly RequestRecord[]) => settlePriced(records.map(priced));

  it('exhaust a budget when less than a micro-USD is left, which no lease can hold', async () => {
    const key = await newKey(2);
    await remaining(key, 2_000_000);
    await settle([embedding(key, 99_999_900)]);
    expect(await read(key)).toMatchObject({ status: 'active', usage_limits: { current_usage: 1.999998 } });
    await settle([embedding(key, 99)]);
    expect(await read(key)).toMatchObject({
      status: 'exhausted',
      usage_limits: { current_usage: 1.99999998, status: 'exhausted' },
    });
    expect((await remaining(key, 2_000_000)).remaining).toBe(0);
  });

  it('add up beyond the integers that JavaScript holds exactly in nano-USD', async () => {
    const key = await newKey(1_000_000_000);
    const capacity = 1_000_000_000_000_000;
    await remaining(key, capacity);
    const costs = [10_000_000_000_000_060, 60];
    const em = plane.control.services.database.em();
    for (const cost of costs) await em.transactional((tx) => settleRecords(tx, [{ record: embedding(key, 0), cost }], nowMs));
    expect((await read(key)).usage_limits).toMatchObject({ current_usage: 10_000_000.00000012, status: 'active' });
    expect((await remaining(key, capacity)).remaining).toBe(capacity - 10_000_000_000_001);
  });

  it('stay correct while a control plane of the previous version writes whole micro-USD', async () => {
    const key = await newKey(10);
    await remaining(key, 10_000_000);
    await settle([embedding(key, 60)]);
    // The part of its statement that changes the used units.
    await plane.control.services.database
      .em()
      .execute('update limit_budgets set used = ? where key = ?', [1 + 5, `budget:${key.budget}`], 'run');
    await settle([embedding(key, 45)]);
    expect((await read(key)).usage_limits.current_usage).toBe(0.0000071);
  });

  it('are limited to the maximum of a budget', async () => {
    const usage_limits = { type: 'cost', credit_limit: 1_000_000_001 };
    const body = { name: 'k', workspace_id: plane.workspaceId, scopes: ['completions.write'], usage_limits };
    const refused = await plane.ask('POST', '/api-keys/workspace/service', { body });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('usage_limits.credit_limit: at most 1000000000 for cost'),
    ]);
  });

  // Last, because the connections of the other tests would be idle for too long.
  // A hundred sums on the database of the rules. The statements are the same on the other one, which gets fewer.
  const callsPerBatch = process.env.LONG_TESTS ? 10_000 : 1_000;
  const calls = callsPerBatch * (ruleDatabases.includes(name) ? 100 : 10);
  it(`add up exactly over ${calls} calls`, async () => {
    const key = { id: randomUUID(), budget: randomUUID() };
    await remaining(key, 100_000_000);
    // 20, 40, … 200 nano-USD: 1,100 per ten calls.
    const ten = Array.from({ length: 10 }, (_, index) => priced(embedding(key, index + 1)));
    const batch = Array.from({ length: callsPerBatch / 10 }, () => ten).flat();
    for (let settled = 0; settled < calls; settled += batch.length) await settlePriced(batch);
    const used = (calls / 100) * 11;
    expect(await usageOf(key)).toBe(used / 1_000_000);
    expect((await remaining(key, 100_000_000)).remaining).toBe(100_000_000 - used);
    await settle([embedding(key, 3)]);
    expect(await usageOf(key)).toBe((used * 1000 + 60) / 1_000_000_000);
    // Leases are whole micro-USD. A partly used one is not granted.
    expect((await remaining(key, 100_000_000)).remaining).toBe(100_000_000 - used - 1);
  });
});
