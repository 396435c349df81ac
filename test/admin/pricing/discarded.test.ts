import { describe, expect, it } from 'vitest';
import { priceRecord, priceWhole } from '../../../admin/pricing/price-record.ts';
import type { DiscardedCall, RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const none = { cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const dear: DiscardedCall = {
  ...{ provider: 'openai', providerSlug: null, model: 'gpt-4', rawUsage: null },
  ...{ ...none, inputTokens: 1_000, outputTokens: 1_000 },
};
const cheap = { provider: 'openai', providerSlug: null, model: 'gpt-4.1-nano', rawUsage: null, media: null };
const recordOf = (members: Partial<RequestRecord>): RequestRecord => ({
  ...sampleRecord(),
  ...{ ...cheap, ...none, inputTokens: 1_500, outputTokens: 1_100, outcome: 'success', cacheStatus: null },
  ...members,
});
const cost = (record: RequestRecord) => priceWhole(record, () => null).costNanoUsd;
/** 1,000 tokens each at 30 and 60 USD per million. */
const dearCost = 90_000_000;
/** 500 and 100 tokens at 0.10 and 0.40 USD per million. */
const cheapCost = 90_000;

describe('the cost of responses that no client received', () => {
  it('has the price of their own model, beside that of the response that was delivered', () => {
    expect(cost(recordOf({ discarded: [dear] }))).toBe(dearCost + cheapCost);
  });

  it.each<[string, Partial<RequestRecord>]>([
    ['fails', { outcome: 'failed', inputTokens: 1_000, outputTokens: 1_000 }],
    ['is refused', { outcome: 'refused', inputTokens: 1_000, outputTokens: 1_000 }],
    ['is then replied to from the cache', { cacheStatus: 'HIT', inputTokens: 1_000, outputTokens: 1_000 }],
    ['ends at a model without a price', { model: 'unknown', provider: 'mock' }],
  ])('counts if the request %s', (_what, members) => {
    expect(cost(recordOf({ ...members, discarded: [dear] }))).toBe(dearCost);
  });

  it('does not count amounts of the provider’s usage object twice', () => {
    const rawUsage = { server_tool_use: { web_search_requests: 3 } };
    const call = { ...dear, provider: 'anthropic', model: 'claude-sonnet-4-5', rawUsage };
    const record = recordOf({
      provider: 'anthropic',
      model: call.model,
      rawUsage,
      inputTokens: 1_000,
      outputTokens: 1_000,
      discarded: [call],
    });
    const { discarded: _, ...alone } = record;
    expect(cost(record)).toBe(priceRecord(alone, null).costNanoUsd);
  });

  it('is absent from other records', () => {
    const { discarded: _, ...record } = recordOf({});
    expect(cost(record)).toBe(priceRecord(record, null).costNanoUsd);
  });
});
