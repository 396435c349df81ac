import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { priceRecord } from '../../../admin/pricing/price-record.ts';
import { configuredBatchRates } from '../../../admin/pricing/rates.ts';
import { pricingConfig } from '../../../admin/pricing/schema.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const noMedia = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0, units: {} };
const priceOf = (changes: Partial<RequestRecord>) =>
  priceRecord(sampleRecord({ createdAt: '2026-11-30T00:00:00Z', rawUsage: null, ...changes }), null);
const call = { inputTokens: 1_000, cacheReadTokens: 0, outputTokens: 100 };
const grounded = (queries: number) => ({ media: { ...noMedia, units: { web_search: queries, grounded_prompts: 1 } } });

// 1,000 × input + 100 × output in nano-USD per token, and the tools as the provider's page of prices states them, in nano-USD per call.
describe('tools that a provider runs', () => {
  it.each<[string, string, Partial<RequestRecord>, number]>([
    ['google', 'gemini-2.5-pro', grounded(3), 1_000 * 1_250 + 100 * 10_000 + 35e6],
    ['google', 'gemini-2.5-flash', grounded(1), 1_000 * 300 + 100 * 2_500 + 35e6],
    ['vertex-ai', 'google.gemini-2.5-flash', grounded(2), 1_000 * 300 + 100 * 2_500 + 35e6],
    ['google', 'models/gemini-3.1-pro-preview', grounded(3), 1_000 * 2_000 + 100 * 12_000 + 3 * 14e6],
    ['openai', 'gpt-5', { media: { ...noMedia, units: { file_search: 2 } } }, 1_000 * 1_250 + 100 * 10_000 + 2 * 2.5e6],
    ['openai', 'gpt-4o-search-preview-2025-03-11', {}, 1_000 * 2_500 + 100 * 10_000 + 25e6],
    ['openai', 'gpt-4o-mini-search-preview', {}, 1_000 * 150 + 100 * 600 + 25e6],
    ['azure-openai', 'gpt-5', { media: { ...noMedia, units: { file_search: 2 } } }, 1_000 * 1_250 + 100 * 10_000 + 2 * 2.5e6],
    [
      'azure-openai',
      'gpt-5',
      { rawUsage: { tool_usage: { web_search: { num_requests: 3 } } } },
      1_000 * 1_250 + 100 * 10_000 + 3 * 1e7,
    ],
    [
      'openai',
      'gpt-5.1',
      { rawUsage: { tool_usage: { web_search: { num_requests: 3 } } } },
      1_000 * 1_250 + 100 * 10_000 + 3 * 1e7,
    ],
    [
      'vertex-ai',
      'anthropic.claude-opus-5',
      { rawUsage: { server_tool_use: { web_search_requests: 2 } } },
      1_000 * 5_000 + 100 * 25_000 + 2 * 1e7,
    ],
    [
      'anthropic',
      'claude-opus-5',
      { rawUsage: { server_tool_use: { web_search_requests: 2 } } },
      1_000 * 5_000 + 100 * 25_000 + 2 * 1e7,
    ],
  ])('have the public price at %s, %s', (provider, model, used, nanoUsd) => {
    expect(priceOf({ provider, model, ...call, ...used })).toEqual({ costNanoUsd: nanoUsd, source: 'public' });
  });

  it('have one fee where each request has a search, also in the quote of a search', () => {
    const search = { media: { ...noMedia, units: { web_search: 1 } }, inputTokens: 0, cacheReadTokens: 0, outputTokens: 0 };
    expect(priceOf({ provider: 'openai', model: 'gpt-4o-search-preview', ...search }).costNanoUsd).toBe(25e6);
  });

  it('cost the same in batches, whose tokens cost half', () => {
    const batch = { id: 'b', part: 'result' as const, requests: 1 };
    const google = priceOf({ provider: 'google', model: 'gemini-2.5-pro', batch, ...call, ...grounded(3) });
    expect(google.costNanoUsd).toBe((1_000 * 1_250 + 100 * 10_000) / 2 + 35e6);
    const rawUsage = { server_tool_use: { web_search_requests: 2 } };
    const anthropic = priceOf({ provider: 'anthropic', model: 'claude-opus-5', batch, ...call, rawUsage });
    expect(anthropic.costNanoUsd).toBe((1_000 * 5_000 + 100 * 25_000) / 2 + 2 * 1e7);
  });

  it('cost the same in batches with saved prices that do not name them', () => {
    const price = {
      pay_as_you_go: { request_token: { price: 2 }, additional_units: { web_search: { price: 0.01 }, pages: { price: 0.002 } } },
    };
    const saved = v.parse(pricingConfig, {
      type: 'static',
      ...price,
      batch_config: { pay_as_you_go: { request_token: { price: 1 } } },
    });
    expect(configuredBatchRates(saved, null)?.units).toEqual({ web_search: 10_000, pages: 1_000 });
  });

  it.each<[string, string, Record<string, number>]>([
    ['openai', 'gpt-5', { code_interpreter: 2 }],
    ['google', 'gemini-2.5-flash', { maps_prompts: 1 }],
  ])('are named if they have no public price: %s', (provider, model, units) => {
    const price = priceOf({ provider, model, ...call, media: { ...noMedia, units } });
    expect(price).toMatchObject({ costNanoUsd: expect.any(Number), unpriced: Object.keys(units) });
  });

  it('cost the same in every service tier', () => {
    const flex = priceOf({ provider: 'google', model: 'gemini-2.5-pro', serviceTier: 'flex', ...call, ...grounded(3) });
    expect(flex.costNanoUsd).toBe((1_000 * 1_250 + 100 * 10_000) / 2 + 35e6);
  });
});
