import * as v from 'valibot';
import { expect, it } from 'vitest';
import { withPrice } from '../../../admin/pricing/price-history.ts';
import { type IntegrationPricing, priceRecord } from '../../../admin/pricing/price-record.ts';
import { pricingConfig } from '../../../admin/pricing/schema.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { emptyUsage } from '../../../core/contract/values/models/usage.ts';
import { SessionUsage } from '../../../core/realtime/session-usage.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const nothing = { inputTokens: 0, outputTokens: 0, rawUsage: null };
const gemini = (changes: Partial<RequestRecord>) =>
  sampleRecord({ provider: 'google', model: 'gemini-2.5-pro', ...nothing, ...changes });
const costOf = (record: RequestRecord, own: IntegrationPricing | null = null) => priceRecord(record, own).costNanoUsd;
const batchOf = (requests: number) => ({ id: 'b', part: 'result' as const, requests });

it('prices by size: cached tokens belong to the size of a request', () => {
  const small = costOf(gemini({ outputTokens: 1_000 })) ?? 0;
  const ofCached = (cacheReadTokens: number) => costOf(gemini({ cacheReadTokens })) ?? 0;
  const large = (costOf(gemini({ outputTokens: 1_000, cacheReadTokens: 300_000 })) ?? 0) - ofCached(300_000);
  expect(small).toBeGreaterThan(0);
  expect(large).toBeGreaterThan(small);
});

it('prices by size: a batch has the size of its average request', () => {
  const usage = { inputTokens: 300_000 };
  const one = costOf(gemini({ ...usage, batch: batchOf(1) })) ?? 0;
  const many = costOf(gemini({ ...usage, batch: batchOf(10) })) ?? 0;
  expect(many).toBeGreaterThan(0);
  expect(one).toBe(many * 2);
});

it('prices by size: responses of a session have their own sizes, not that of their sum', () => {
  const of = (inputTokens: number) => ({ ...emptyUsage(), inputTokens, outputTokens: 1_000, serviceTier: null });
  const priceOf = (...sizes: number[]): number => {
    const session = new SessionUsage((event) => of(Number(event.usage)));
    for (const usage of sizes) session.take(Buffer.from(JSON.stringify({ usage })));
    const { inputTokens, outputTokens } = session.total() ?? emptyUsage();
    const ended = { messagesFromClient: 1, messagesFromProvider: 1, closeCode: 1000, closedBy: null, ...session.responses() };
    return costOf(gemini({ inputTokens, outputTokens, session: ended })) ?? 0;
  };
  const [small, large] = [priceOf(90_000), priceOf(300_000)];
  expect(large).toBeGreaterThan((small * 300) / 90);
  expect(priceOf(90_000, 90_000, 90_000)).toBe(3 * small);
  expect(priceOf(90_000, 300_000, 90_000)).toBe(2 * small + large);
  expect(priceOf(300_000, 90_000)).toBe(small + large);
});

it('prices by tier: responses of a session have the price of their own tier', () => {
  const prices = { pay_as_you_go: { request_token: { price: 1 } } };
  const service_tiers = { priority: { pay_as_you_go: { request_token: { price: 3 } } } };
  const value = v.parse(pricingConfig, { ...prices, service_tiers });
  const models = new Map([['m', { pricing: [{ from: null, value }], baseModel: null }]]);
  const counts = { inputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  const parts = [{ responses: 1, ...counts, serviceTier: 'priority' }];
  const session = { messagesFromClient: 1, messagesFromProvider: 2, closeCode: null, closedBy: null, responses: 3, parts };
  const record = sampleRecord({ ...nothing, model: 'm', inputTokens: 1_000, session });
  expect(costOf(record, { adjustments: [], aliases: new Map(), models })).toBe((900 * 1 + 100 * 3) * 1_000);
});

it('a part of a session without media does not have the price of the media of the whole session', () => {
  const prices = { pay_as_you_go: { request_token: { price: 1 }, request_audio_token: { price: 5 } } };
  const models = new Map([['m', { pricing: [{ from: null, value: v.parse(pricingConfig, prices) }], baseModel: null }]]);
  const counts = { inputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0, reasoningTokens: 0 };
  const parts = [{ responses: 1, ...counts, serviceTier: 'priority' }];
  const session = { messagesFromClient: 1, messagesFromProvider: 2, closeCode: null, closedBy: null, responses: 2, parts };
  const media = { audioInputTokens: 200, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0, units: {} };
  const record = sampleRecord({ ...nothing, model: 'm', inputTokens: 1_000, media, session });
  expect(costOf(record, { adjustments: [], aliases: new Map(), models })).toBe((200 * 5 + 700 * 1 + 100 * 1) * 1_000);
});

it('saved prices of batches are not halved', () => {
  const prices = { pay_as_you_go: { request_token: { price: 2 } } };
  const pricing = (more: object) => [{ from: null, value: v.parse(pricingConfig, { ...prices, ...more }) }];
  const ownOf = (more: object): IntegrationPricing => ({
    ...{ adjustments: [], aliases: new Map() },
    models: new Map([['m', { pricing: pricing(more), baseModel: null }]]),
  });
  const record = sampleRecord({ ...nothing, model: 'm', inputTokens: 1_000, batch: batchOf(1) });
  expect(costOf(record, ownOf({}))).toBe(1_000_000);
  const batch_config = { pay_as_you_go: { request_token: { price: 1.5 } } };
  expect(costOf(record, ownOf({ batch_config }))).toBe(1_500_000);
});

it('prices of deployments: those saved with the model behind them, unless they have their own', () => {
  const row = (price: number) => {
    const value = v.parse(pricingConfig, { pay_as_you_go: { request_token: { price } } });
    return { pricing: [{ from: null, value }], baseModel: null };
  };
  const models = new Map([
    ['m', row(2)],
    ['own', row(3)],
  ]);
  const aliases = new Map([
    ['fast', 'm'],
    ['own', 'm'],
  ]);
  const costsOf = ['fast', 'own'].map((model) =>
    costOf(sampleRecord({ ...nothing, model, inputTokens: 1_000 }), { adjustments: [], models, aliases }),
  );
  expect(costsOf).toEqual([2_000_000, 3_000_000]);
});

it('histories of prices: a price that is sent again is no version, also with its members in another order', () => {
  const now = new Date(0);
  const history = withPrice<object>([], { a: 1, b: { c: 2, d: 3 } }, { from: undefined, now });
  expect(withPrice<object>(history, { b: { d: 3, c: 2 }, a: 1 }, { from: undefined, now })).toBe(history);
});

it('histories of prices: a price from the time of another one replaces it', () => {
  const now = new Date(0);
  const from = '2026-11-01T00:00:00.000Z';
  let history = withPrice<number>([], 1, { from: undefined, now });
  for (const value of [2, 3]) history = withPrice(history, value, { from, now });
  expect(history).toEqual([
    { from: null, value: 1 },
    { from, value: 3 },
  ]);
});

it('histories of prices: a hundred versions are kept, and the oldest of them applies from the beginning', () => {
  let history = withPrice<number>([], 1, { from: undefined, now: new Date(0) });
  for (let n = 2; n <= 150; n++) history = withPrice(history, n, { from: undefined, now: new Date(n * 60_000) });
  expect(history).toHaveLength(100);
  expect(history[0]).toEqual({ from: null, value: 51 });
  expect(history.at(-1)).toEqual({ from: new Date(150 * 60_000).toISOString(), value: 150 });
});
