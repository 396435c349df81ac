import { expect, it } from 'vitest';
import { priceRecord } from '../../../admin/pricing/price-record.ts';
import { pricedTiers } from '../../../admin/pricing/tier-factors.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const usage = { inputTokens: 1_000, cacheReadTokens: 100, outputTokens: 100, rawUsage: null };
const nanoUsdOf = (changes: Partial<RequestRecord>): number | null =>
  priceRecord(sampleRecord({ createdAt: '2026-11-30T00:00:00Z', ...usage, ...changes }), null).costNanoUsd;

// Expected costs are 1,000 × input + 100 × cached input + 100 × output, in nano-USD per token as the provider's page of prices states them.
it.each<[string, string, string | undefined, number]>([
  ['openai', 'gpt-5', undefined, 1_000 * 1_250 + 100 * 125 + 100 * 10_000],
  ['openai', 'gpt-5', 'priority', 1_000 * 2_500 + 100 * 250 + 100 * 20_000],
  ['openai', 'gpt-5-2025-08-07', 'fast', 1_000 * 2_500 + 100 * 250 + 100 * 20_000],
  ['openai', 'gpt-5', 'flex', 1_000 * 625 + 100 * 62.5 + 100 * 5_000],
  ['openai', 'gpt-5', 'scale', 1_000 * 1_250 + 100 * 125 + 100 * 10_000],
  ['openai', 'gpt-5-mini', 'priority', 1_000 * 450 + 100 * 45 + 100 * 3_600],
  ['openai', 'gpt-5.5', 'priority', 1_000 * 12_500 + 100 * 1_250 + 100 * 75_000],
  ['openai', 'gpt-4.1', 'priority', 1_000 * 3_500 + 100 * 875 + 100 * 14_000],
  ['openai', 'gpt-4o-2024-11-20', 'priority', 1_000 * 4_250 + 100 * 2_125 + 100 * 17_000],
  ['azure-openai', 'gpt-4o-mini', 'priority', 1_000 * 250 + 100 * 125 + 100 * 1_000],
  ['openai', 'o3', 'priority', 1_000 * 3_500 + 100 * 875 + 100 * 14_000],
  ['openai', 'o4-mini', 'priority', 1_000 * 2_000 + 100 * 500 + 100 * 8_000],
  ['anthropic', 'claude-opus-4-6', 'fast', 1_000 * 30_000 + 100 * 3_000 + 100 * 150_000],
  ['anthropic', 'claude-opus-5', 'fast', 1_000 * 10_000 + 100 * 1_000 + 100 * 50_000],
  ['anthropic', 'claude-opus-5', 'priority', 1_000 * 5_000 + 100 * 500 + 100 * 25_000],
  ['google', 'gemini-2.5-pro', 'priority', 1_000 * 2_250 + 100 * 225 + 100 * 18_000],
  ['vertex-ai', 'google.gemini-2.5-pro', 'flex', 1_000 * 625 + 100 * 62.5 + 100 * 5_000],
  ['bedrock', 'us.amazon.nova-pro-v1:0', 'priority', 1_000 * 1_400 + 100 * 350 + 100 * 5_600],
])('public prices by tier: %s %s, tier %s', (provider, model, serviceTier, nanoUsd) => {
  expect(nanoUsdOf({ provider, model, ...(serviceTier === undefined ? {} : { serviceTier }) })).toBe(nanoUsd);
});

it('public prices by tier: a cache write for an hour has the price of the tier, and a search of the web has one price', () => {
  const rawUsage = { cache_creation: { ephemeral_1h_input_tokens: 100 }, server_tool_use: { web_search_requests: 2 } };
  const call = { provider: 'anthropic', model: 'claude-opus-5', cacheReadTokens: 0, cacheWriteTokens: 100, rawUsage };
  const [usual, fast] = [nanoUsdOf(call), nanoUsdOf({ ...call, serviceTier: 'fast' })];
  expect(usual).toBe(1_000 * 5_000 + 100 * 10_000 + 100 * 25_000 + 2 * 1e7);
  expect(fast).toBe(2 * (1_000 * 5_000 + 100 * 10_000 + 100 * 25_000) + 2 * 1e7);
});

it('public prices by tier: a tier that a caller or a provider made up has the usual price', () => {
  const usual = nanoUsdOf({ model: 'gpt-5' });
  for (const serviceTier of ['constructor', 'toString', 'turbo']) expect(nanoUsdOf({ model: 'gpt-5', serviceTier })).toBe(usual);
  expect(pricedTiers('constructor', 'gpt-5')).toEqual([]);
});

it('public prices by geography: tokens that Anthropic served in the US only cost a tenth more', () => {
  const call = { provider: 'anthropic', model: 'claude-sonnet-4-6' };
  const usual = 1_000 * 3_000 + 100 * 300 + 100 * 15_000;
  for (const inference_geo of ['global', 'not_available'])
    expect(nanoUsdOf({ ...call, rawUsage: { inference_geo } })).toBe(usual);
  expect(nanoUsdOf({ ...call, rawUsage: { inference_geo: 'us' } })).toBe(usual * 1.1);
});
