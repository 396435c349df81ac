import * as v from 'valibot';
import { expect, it } from 'vitest';
import { type IntegrationPricing, priceRecord } from '../../../admin/pricing/price-record.ts';
import { pricingAdjustments, pricingConfig } from '../../../admin/pricing/schema.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const price = (changes: Partial<RequestRecord>, own: IntegrationPricing | null = null) => priceRecord(sampleRecord(changes), own);
const own = (models: IntegrationPricing['models'] = new Map(), factor = 1): IntegrationPricing => {
  const value = v.parse(pricingAdjustments, { multiplier: { default: factor } });
  return { adjustments: [{ from: null, value }], models, aliases: new Map() };
};

it.each<[string, string, string, Record<string, unknown>, number]>([
  ['OpenRouter', 'openrouter', 'openrouter/auto', { cost: 0.00012 }, 120_000],
  [
    'OpenRouter with a key of the host',
    'openrouter',
    'a/b',
    { cost: 0.0001, is_byok: true, cost_details: { upstream_inference_cost: 0.002 } },
    2_100_000,
  ],
  [
    'OpenRouter without one',
    'openrouter',
    'a/b',
    { cost: 0.95, is_byok: false, cost_details: { upstream_inference_cost: 19 } },
    950_000_000,
  ],
  ['a free model of OpenRouter', 'openrouter', 'a/b:free', { cost: 0 }, 0],
  ['Perplexity', 'perplexity-ai', 'openai/gpt-5.2', { cost: { request_cost: 0.005, total_cost: 0.0061 } }, 6_100_000],
  ['xAI, whose tools have no counts', 'x-ai', 'grok-4', { cost_in_usd_ticks: 37_756_000 }, 3_775_600],
])('stated costs: a call of %s has the cost that the provider states', (_who, provider, model, rawUsage, costNanoUsd) => {
  expect(price({ provider, model, rawUsage })).toEqual({ costNanoUsd, source: 'provider' });
  expect(price({ provider, model, rawUsage }, own(new Map(), 2))).toEqual({ costNanoUsd: 2 * costNanoUsd, source: 'provider' });
});

it.each([-1, '0.1', null, Number.NaN, { total: 1 }])('stated costs: %j is no cost, and the public price applies', (cost) => {
  const model = 'openai/gpt-4o';
  const usual = price({ provider: 'openrouter', model, rawUsage: null });
  expect(usual).toMatchObject({ source: 'public', costNanoUsd: 120 * 2_500 + 45 * 10_000 });
  expect(price({ provider: 'openrouter', model, rawUsage: { cost } })).toEqual(usual);
});

it.each([undefined, null, {}, { upstream_inference_cost: null }])(
  'stated costs: the fee of OpenRouter is not the cost of a call whose host has the key and details %j',
  (cost_details) => {
    const call = { provider: 'openrouter', model: 'openai/gpt-4o' };
    expect(price({ ...call, rawUsage: { cost: 0.0001, is_byok: true, cost_details } })).toEqual(
      price({ ...call, rawUsage: null }),
    );
  },
);

it('stated costs: a saved price comes first, and other providers state none', () => {
  const value = v.parse(pricingConfig, { pay_as_you_go: { request_token: { price: 1 } } });
  const saved = own(new Map([['a/b', { pricing: [{ from: null, value }], baseModel: null }]]));
  const call = { provider: 'openrouter', model: 'a/b', rawUsage: { cost: 9 } };
  expect(price(call, saved)).toEqual({ costNanoUsd: 120_000, source: 'model', unpriced: ['response_token'] });
  expect(price({ ...call, provider: 'openai', model: 'gpt-4o-mini' }).source).toBe('public');
});

it('stated costs: a cost beyond any call is reduced, and a cached or failed call costs nothing', () => {
  const call = { provider: 'openrouter', model: 'a/b', rawUsage: { cost: 1e300 } };
  expect(price(call).costNanoUsd).toBe(1e15);
  expect(price({ ...call, cacheStatus: 'HIT' }).costNanoUsd).toBe(0);
  expect(price({ ...call, outcome: 'failed', status: 502 }).costNanoUsd).toBe(0);
});
