import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { priceRecord } from '../../../admin/pricing/price-record.ts';
import { UsageSums } from '../../../core/batches/sum-usage.ts';
import { batchUsagePart } from '../../../core/contract/provider/batch-usage.ts';
import { emptyUsage } from '../../../core/contract/values/models/usage.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const used = (inputTokens: number, more: object = {}) => ({ ...emptyUsage(), inputTokens, outputTokens: 10, ...more });

describe('summed usage of many requests', () => {
  it('sums by model and tier, with counts that only the provider has', () => {
    const sums = new UsageSums('chatComplete');
    sums.add('a', used(5, { raw: { cache_creation: { ephemeral_1h_input_tokens: 2 }, service_tier: 'batch' } }));
    sums.add('a', used(7, { raw: { cache_creation: { ephemeral_1h_input_tokens: 3 } }, serviceTier: 'batch' }));
    sums.add('a', used(1, { serviceTier: 'flex' }));
    sums.add('b', used(1, { units: { search_units: 2 } }));
    expect(sums.parts.map((part) => v.parse(batchUsagePart, part))).toMatchObject([
      { model: 'a', serviceTier: null, requests: 2, inputTokens: 12, outputTokens: 20, operation: 'chatComplete' },
      { model: 'a', serviceTier: 'flex', requests: 1 },
      { model: 'b', requests: 1, units: { search_units: 2 } },
    ]);
    expect(sums.parts[0]?.raw).toEqual({ cache_creation: { ephemeral_1h_input_tokens: 5 } });
  });

  it('costs as much as the single requests, also with price tiers by input size', () => {
    const sums = new UsageSums('chatComplete');
    const sizes = [1_000, 120_000, 150_000, 199_999, 200_000, 200_001, 250_000, 900_000];
    for (const size of sizes) for (let i = 0; i < 3; i++) sums.add('gemini-2.5-pro', used(size));
    const priced = (record: object) =>
      priceRecord(sampleRecord({ provider: 'google', model: 'gemini-2.5-pro', media: null, rawUsage: null, ...record }), null);
    const counts = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, outputTokens: 10 };
    const each = sizes.map((inputTokens) => 3 * (priced({ ...counts, inputTokens }).costNanoUsd as number));
    const together = sums.parts.map(({ inputTokens, outputTokens, requests }) => {
      const batch = { id: 'b', part: 'result' as const, requests };
      return priced({ ...counts, inputTokens, outputTokens, batch }).costNanoUsd as number;
    });
    const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0);
    // Half of it, except for the rounding of each record.
    expect(Math.abs(sum(together) - sum(each) / 2)).toBeLessThanOrEqual(sizes.length * 3);
  });

  it('stays bounded if a provider invents many names', () => {
    const sums = new UsageSums(null);
    for (let i = 0; i < 5_000; i++) sums.add(`model-${i}`, used(1));
    expect(sums.parts.length).toBeLessThanOrEqual(207);
    expect(sums.parts.reduce((count, part) => count + part.requests, 0)).toBe(5_000);
  });
});
