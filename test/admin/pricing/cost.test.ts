import { describe, expect, it } from 'vitest';
import { type BilledUsage, type CostOptions, costOf } from '../../../admin/pricing/cost.ts';
import { configuredRates, publicRates } from '../../../admin/pricing/rates.ts';
import type { Rates } from '../../../admin/pricing/units.ts';

const nothing: BilledUsage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  media: null,
  rawUsage: null,
};
const noMedia = { audioInputTokens: 0, audioOutputTokens: 0, imageInputTokens: 0, imageOutputTokens: 0, units: {} };
const rates = (tokens: Rates['tokens'], units: Rates['units'] = {}, perRequest = 0): Rates => ({ tokens, units, perRequest });
const plain = rates({ request_token: 2, response_token: 8 });

describe('what usage costs', () => {
  const cases: [string, Partial<BilledUsage>, Rates, number | null, CostOptions?][] = [
    ['nothing used', {}, plain, 0],
    ['input and output', { inputTokens: 100, outputTokens: 10 }, plain, 280],
    ['cached input at its price', { cacheReadTokens: 100 }, rates({ request_token: 2, cache_read_input_token: 0.5 }), 50],
    ['cached input without a price as input', { cacheReadTokens: 100 }, plain, 200],
    ['written cache', { cacheWriteTokens: 100 }, rates({ request_token: 2, cache_write_input_token: 2.5 }), 250],
    [
      'cache written for an hour apart',
      { cacheWriteTokens: 100, rawUsage: { cache_creation: { ephemeral_1h_input_tokens: 40 } } },
      rates({ request_token: 2, cache_write_input_token: 2.5 }, { cache_write_1h: 4 }),
      60 * 2.5 + 40 * 4,
    ],
    [
      'audio in and out',
      { inputTokens: 100, outputTokens: 50, media: { ...noMedia, audioInputTokens: 60, audioOutputTokens: 20 } },
      rates({ request_token: 2, response_token: 8, request_audio_token: 30, response_audio_token: 60 }),
      40 * 2 + 60 * 30 + 30 * 8 + 20 * 60,
    ],
    ['audio without a price of its own as text', { inputTokens: 100, media: { ...noMedia, audioInputTokens: 60 } }, plain, 200],
    [
      'cached audio',
      {
        inputTokens: 40,
        cacheReadTokens: 60,
        media: { ...noMedia, audioInputTokens: 50 },
        rawUsage: { input_token_details: { cached_tokens_details: { audio_tokens: 20 } } },
      },
      rates({
        request_token: 2,
        request_audio_token: 30,
        cache_read_input_token: 1,
        cache_read_audio_input_token: 3,
      }),
      10 * 2 + 30 * 30 + 40 * 1 + 20 * 3,
    ],
    [
      'images as tokens',
      { inputTokens: 100, outputTokens: 100, media: { ...noMedia, imageInputTokens: 30, imageOutputTokens: 100 } },
      rates({ request_text_token: 5, request_image_token: 10, response_image_token: 40 }),
      70 * 5 + 30 * 10 + 100 * 40,
    ],
    ['reasoning with a price', { outputTokens: 100, reasoningTokens: 60 }, rates({ response_token: 8, reasoning_token: 3 }), 500],
    ['reasoning without one as output', { outputTokens: 100, reasoningTokens: 60 }, plain, 800],
    [
      'predictions',
      {
        outputTokens: 100,
        rawUsage: { completion_tokens_details: { accepted_prediction_tokens: 30, rejected_prediction_tokens: 20 } },
      },
      rates({ response_token: 8, prediction_accepted_token: 4, prediction_rejected_token: 1 }),
      50 * 8 + 30 * 4 + 20,
    ],
    [
      'pictures and searches beside tokens',
      {
        inputTokens: 10,
        media: { ...noMedia, units: { generated_images: 2 } },
        rawUsage: { server_tool_use: { web_search_requests: 3 } },
      },
      rates({ request_token: 2 }, { generated_images: 40_000, web_search: 10_000 }),
      20 + 80_000 + 30_000,
    ],
    ['a fee for each request', { inputTokens: 10 }, rates({ request_token: 2 }, {}, 5_000), 5_020],
    [
      'a multiplier for all',
      { inputTokens: 10, outputTokens: 10 },
      plain,
      150,
      { adjustments: { multiplier: { default: 1.5 } } },
    ],
    [
      'a multiplier of one unit over that for all',
      { inputTokens: 10, outputTokens: 10 },
      plain,
      10 * 2 * 3 + 10 * 8 * 1.5,
      { adjustments: { multiplier: { default: 1.5, request_token: 3 } } },
    ],
    ['a multiplier of nothing', { inputTokens: 10 }, plain, 0, { adjustments: { multiplier: { request_token: 0 } } }],
    [
      'a multiplier of searches',
      { rawUsage: { server_tool_use: { web_search_requests: 1 } } },
      rates({}, { web_search: 10_000 }),
      5_000,
      { adjustments: { multiplier: { additional_units: { web_search: 0.5 } } } },
    ],
    ['half in a batch', { inputTokens: 100, outputTokens: 10 }, plain, 140, { isBatch: true }],
    ['rounded once, at the end', { inputTokens: 1, outputTokens: 1 }, rates({ request_token: 0.4, response_token: 0.4 }), 1],
    ['no price for anything that was used', { media: { ...noMedia, units: { characters: 5 } } }, plain, null],
  ];
  it.each(cases)('%s', (_, usage, prices, microUsd, options) => {
    expect(costOf({ ...nothing, ...usage }, prices, options)).toBe(microUsd);
  });

  it('never bills a part for more than the whole', () => {
    const usage = { ...nothing, inputTokens: 10, media: { ...noMedia, audioInputTokens: 99 } };
    expect(costOf(usage, rates({ request_token: 1, request_audio_token: 2 }))).toBe(20);
  });
});

describe('public prices', () => {
  const at = new Date('2026-01-01T00:00:00Z');

  it('know models under the names they are called by', () => {
    const base = publicRates('openai', 'gpt-4o-mini', 0, at);
    expect(base?.tokens).toMatchObject({ request_token: 0.15, cache_read_input_token: 0.075, response_token: 0.6 });
    expect(publicRates('openai', 'ft:gpt-4o-mini:acme::x1', 0, at)).toEqual(base);
    expect(publicRates('azure-openai', 'gpt-4o-mini', 0, at)?.tokens.request_token).toBeGreaterThan(0);
    expect(publicRates('bedrock', 'us.anthropic.claude-3-5-haiku-20241022-v1:0', 0, at)?.tokens.request_token).toBeGreaterThan(0);
    expect(publicRates('openai', 'no-such-model', 0, at)).toBeNull();
    expect(publicRates('mock', 'echo', 0, at)).toBeNull();
  });

  it('rise with the size of the input where the provider says so', () => {
    const short = publicRates('google', 'gemini-2.5-pro', 200_000, at)?.tokens.request_token ?? 0;
    const long = publicRates('google', 'gemini-2.5-pro', 200_001, at)?.tokens.request_token ?? 0;
    expect(long).toBeGreaterThan(short);
  });

  it('count audio by the second', () => {
    const perHour = (publicRates('openai', 'whisper-1', 0, at)?.units.audio_seconds ?? 0) * 3_600;
    expect(perHour).toBeCloseTo(360_000, 6);
  });
});

it('takes saved prices as dollars per million tokens and per unit', () => {
  const config = { request_token: { price: 3 }, additional_units: { web_search: { price: 0.01 } }, fixed_cost: { price: 0.002 } };
  expect(configuredRates({ type: 'static', pay_as_you_go: config })).toEqual({
    tokens: { request_token: 3 },
    units: { web_search: 10_000 },
    perRequest: 2_000,
  });
});
