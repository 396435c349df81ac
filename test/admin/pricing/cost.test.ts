import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { validate } from '../../../admin/http/request/validate.ts';
import { type BilledUsage, type CostOptions, costOf } from '../../../admin/pricing/cost.ts';
import { configuredBatchRates, configuredRates, publicRates } from '../../../admin/pricing/rates.ts';
import { pricingConfig } from '../../../admin/pricing/schema.ts';
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
const twice = [{ value: 'rates.request_token' }, { value: 2 }];
const endless = { operation: 'multiply', operands: [{ value: 1e300 }, { value: 1e300 }, { value: 'input_tokens' }] } as const;
const plain = rates({ request_token: 2, response_token: 8 });

describe('cost of usage', () => {
  /** Name, usage, rates, cost in micro-USD. */
  const cases: [string, Partial<BilledUsage>, Rates, number | null, CostOptions?][] = [
    ['nothing used', {}, plain, 0],
    ['more than a column holds', { rawUsage: { num_search_queries: 1e300 } }, rates({}, { web_search: 1e15 }), 1e12],
    ['what no number holds', { inputTokens: 0, outputTokens: 5 }, { ...plain, calculate: { response: endless } }, null],
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
      'cache of Bedrock written for an hour apart',
      {
        cacheWriteTokens: 100,
        rawUsage: {
          cacheDetails: [
            { ttl: '1h', inputTokens: 40 },
            { ttl: '5m', inputTokens: 60 },
          ],
        },
      },
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
      'cached audio of Gemini',
      {
        inputTokens: 40,
        cacheReadTokens: 60,
        media: { ...noMedia, audioInputTokens: 50 },
        rawUsage: {
          cacheTokensDetails: [
            { modality: 'TEXT', tokenCount: 40 },
            { modality: 'AUDIO', tokenCount: 20 },
          ],
        },
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
    [
      'searches that a response of OpenAI counts beside its tokens',
      { inputTokens: 10, rawUsage: { input_tokens: 10, tool_usage: { web_search: { num_requests: 2 } } } },
      rates({ request_token: 2 }, { web_search: 10_000 }),
      20 + 20_000,
    ],
    [
      'the tokens that Cohere bills, not those it counts or has cached',
      {
        inputTokens: 52,
        cacheReadTokens: 448,
        outputTokens: 20,
        rawUsage: {
          billed_units: { input_tokens: 12, output_tokens: 10 },
          tokens: { input_tokens: 500, output_tokens: 20 },
          cached_tokens: 448,
        },
      },
      rates({ request_token: 2, cache_read_input_token: 0.5, response_token: 8 }),
      12 * 2 + 10 * 8,
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
    [
      'images without sizes, with a multiplier of images',
      { media: { ...noMedia, units: { generated_images: 3 } } },
      rates({}, { generated_images: 40_000 }),
      60_000,
      { adjustments: { multiplier: { image: { default: 0.5 } } } },
    ],
    ['half in a batch', { inputTokens: 100, outputTokens: 10 }, plain, 140, { isBatch: true }],
    ['a fixed price for each request', { inputTokens: 100 }, rates({ request_token: 2 }, {}, 7), 200 + 3 * 7, { requests: 3 }],
    [
      'images by quality and size, with a multiplier of images',
      { media: { ...noMedia, units: { generated_images: 3 } }, image: { quality: 'hd', size: '1024x1792' } },
      { ...rates({}), images: { default: { default: 40_000 }, hd: { default: 80_000, '1024x1792': 120_000 } } },
      180_000,
      { adjustments: { multiplier: { image: { default: 0.5 } } } },
    ],
    [
      'images of a quality that is not listed as the default',
      { media: { ...noMedia, units: { generated_images: 1 } }, image: { quality: 'low', size: '9x9' } },
      { ...rates({}), images: { default: { default: 40_000 }, hd: { default: 80_000 } } },
      40_000,
    ],
    [
      'images that the list has no default for',
      { media: { ...noMedia, units: { generated_images: 1 } }, image: { quality: 'constructor', size: null } },
      { ...rates({}), images: { hd: { default: 80_000 } } },
      null,
    ],
    [
      'a calculation in the place of the input, multiplied rate by rate',
      { inputTokens: 100, cacheReadTokens: 10, outputTokens: 10 },
      {
        ...plain,
        calculate: { request: { operation: 'multiply', operands: [{ value: 'input_tokens' }, ...twice, { value: 0.5 }] } },
      },
      100 * 6 * 2 * 0.5 + 10 * 8,
      { adjustments: { multiplier: { request_token: 3 } } },
    ],
    [
      'a sum for the output that counts reasoning on top',
      { inputTokens: 1, outputTokens: 10, reasoningTokens: 4 },
      {
        ...plain,
        calculate: {
          response: {
            operation: 'multiply',
            operands: [
              { operation: 'sum', operands: [{ value: 'output_tokens' }, { value: 'reasoning_tokens' }] },
              { value: 'rates.response_token' },
            ],
          },
        },
      },
      2 + 14 * 8,
    ],
    ['a fraction of a micro-USD', { inputTokens: 3 }, rates({ request_token: 0.02 }), 0.06],
    [
      'rounded once, at the end, to nano-USD',
      { inputTokens: 1, outputTokens: 1 },
      rates({ request_token: 0.0004, response_token: 0.0004 }),
      0.001,
    ],
    ['half a nano-USD upwards, in spite of binary fractions', { inputTokens: 3 }, rates({ request_token: 0.3355 }), 1.007],
    ['no price for anything that was used', { media: { ...noMedia, units: { characters: 5 } } }, plain, null],
  ];
  it.each(cases)('%s', (_, usage, prices, microUsd, options) => {
    const { costNanoUsd } = costOf({ ...nothing, ...usage }, prices, options);
    expect(costNanoUsd).toBe(microUsd === null ? null : Math.round(microUsd * 1_000));
  });

  it('is never higher for a part than for the whole', () => {
    const usage = { ...nothing, inputTokens: 10, media: { ...noMedia, audioInputTokens: 99 } };
    expect(costOf(usage, rates({ request_token: 1, request_audio_token: 2 })).costNanoUsd).toBe(20_000);
  });

  const used = (units: Record<string, number>, inputTokens = 10) => ({ ...nothing, inputTokens, media: { ...noMedia, units } });
  it.each<[string, Parameters<typeof costOf>[0], Rates, readonly string[]]>([
    ['nothing', used({ web_search: 1 }), { ...rates({ request_token: 1 }), units: { web_search: 9 } }, []],
    ['a tool', used({ web_search: 1, file_search: 2 }), rates({ request_token: 1 }), ['web_search', 'file_search']],
    ['output', { ...used({}), outputTokens: 5 }, rates({ request_token: 1 }), ['response_token']],
    ['the tokens beside a tool', used({ web_search: 1 }), { ...rates({}), units: { web_search: 9 } }, ['request_token']],
    ['no count that another one of the same work replaces', used({ characters: 40 }), rates({ request_token: 1 }), []],
    [
      'no tokens of a model that is billed by images',
      used({ generated_images: 1 }),
      { ...rates({}), units: { generated_images: 9 } },
      [],
    ],
    [
      'no queries of a model that is billed by prompts',
      used({ web_search: 3, grounded_prompts: 1 }),
      { ...rates({ request_token: 1 }), units: { grounded_prompts: 9 } },
      [],
    ],
  ])('lists what has no price: %s', (_name, usage, prices, unpriced) => {
    expect(costOf(usage, prices).unpriced).toEqual(unpriced);
  });
});

describe('public prices', () => {
  const at = new Date('2026-01-01T00:00:00Z');

  it('exist for models under the names that requests use', () => {
    const base = publicRates('openai', 'gpt-4o-mini', 0, at);
    expect(base?.tokens).toMatchObject({ request_token: 0.15, cache_read_input_token: 0.075, response_token: 0.6 });
    expect(publicRates('azure-openai', 'gpt-4o-mini', 0, at)?.tokens.request_token).toBeGreaterThan(0);
    expect(publicRates('bedrock', 'us.anthropic.claude-3-5-haiku-20241022-v1:0', 0, at)?.tokens.request_token).toBeGreaterThan(0);
    expect(publicRates('openai', 'no-such-model', 0, at)).toBeNull();
    expect(publicRates('mock', 'echo', 0, at)).toBeNull();
  });

  it.each([
    ['openai', 'ft:gpt-4.1-mini-2025-04-14:acme::x1', { request_token: 0.8, cache_read_input_token: 0.2, response_token: 3.2 }],
    ['openai', 'ft:gpt-4o-mini:acme::x1', { request_token: 0.3, cache_read_input_token: 0.15, response_token: 1.2 }],
    ['openai', 'ft:gpt-4o-2024-08-06:acme::x1', { request_token: 3.75, cache_read_input_token: 1.875, response_token: 15 }],
    ['openai', 'ft:o4-mini-2025-04-16:acme::x1', { request_token: 4, cache_read_input_token: 1, response_token: 16 }],
    ['openai', 'babbage-002', { request_token: 0.4, response_token: 0.4 }],
    ['azure-openai', 'gpt-4.1-mini-2025-04-14.ft-x1', { request_token: 0.4, cache_read_input_token: 0.1, response_token: 1.6 }],
    // The list has these names without a date.
    ['openai', 'gpt-4o-mini-tts-2025-12-15', { request_token: 0.6, response_token: 12 }],
    ['anthropic', 'claude-opus-4-7@20260416', { request_token: 5 }],
  ])('public prices: %s %s has the published price', (provider, model, tokens) => {
    expect(publicRates(provider, model, 0, at)?.tokens).toMatchObject(tokens);
  });

  it('public prices: speech that is billed by characters has a price', () => {
    expect(publicRates('openai', 'tts-1-hd-1106', 0, at)?.units).toEqual({ characters: 30 });
    const media = { ...noMedia, units: { characters: 1_000 } };
    const rates = publicRates('openai', 'tts-1', 0, at);
    expect(rates && costOf({ ...nothing, media }, rates).costNanoUsd).toBe(15_000_000);
  });

  it.each([
    ['bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 6.6],
    ['vertex-ai', 'anthropic.claude-opus-4-8', 10],
    ['anthropic', 'claude-opus-4-8', 10],
  ])('public prices: a cache write for an hour costs twice the input, at %s', (provider, model, price) => {
    expect(publicRates(provider, model, 0, new Date('2026-11-30T00:00:00Z'))?.units.cache_write_1h).toBe(price);
  });

  it('rise with input size if the provider has such tiers', () => {
    const short = publicRates('google', 'gemini-2.5-pro', 200_000, at)?.tokens.request_token ?? 0;
    const long = publicRates('google', 'gemini-2.5-pro', 200_001, at)?.tokens.request_token ?? 0;
    expect(long).toBeGreaterThan(short);
  });

  it('count audio by the second', () => {
    const perHour = (publicRates('openai', 'whisper-1', 0, at)?.units.audio_seconds ?? 0) * 3_600;
    expect(perHour).toBeCloseTo(360_000, 6);
  });
});

describe('saved prices', () => {
  const config = v.parse(pricingConfig, {
    pay_as_you_go: {
      request_token: { price: 3 },
      cached_image_input_token: { price: 1 },
      image: { hd: { default: { price: 0.08 } } },
      additional_units: { web_search: { price: 0.01 } },
      fixed_cost: { price: 0.002 },
    },
    service_tiers: { flex: { pay_as_you_go: { request_token: { price: 1.5 } } } },
  });
  const usual = {
    tokens: { request_token: 3, cache_read_image_input_token: 1 },
    units: { web_search: 10_000 },
    perRequest: 2_000,
    images: { hd: { default: 80_000 } },
  };

  it('are dollars per million tokens, per image and per unit', () => {
    expect(configuredRates(config)).toEqual(usual);
    expect(configuredRates(config, 'priority')).toEqual(usual);
  });

  it('follow the service tier if it has its own', () => {
    expect(configuredRates(config, 'flex')).toEqual({ ...usual, tokens: { ...usual.tokens, request_token: 1.5 } });
  });

  it.each([
    ['their own fixed price', { fixed_cost: { price: 0.003 } }, 3_000],
    ['half of the usual fixed price', {}, 1_000],
  ])(
    'saved prices: those of batches have %s, and half of the usual prices for other units, except searches',
    (_, fixed, perRequest) => {
      const ofBatch = { pay_as_you_go: { request_token: { price: 2 }, ...fixed } };
      expect(configuredBatchRates(v.parse(pricingConfig, { ...config, batch_config: ofBatch }), null)).toEqual({
        tokens: { request_token: 2, cache_read_image_input_token: 0.5 },
        units: { web_search: 10_000 },
        perRequest,
        images: { hd: { default: 40_000 } },
      });
    },
  );

  const prices = { request_token: { price: 1 } };
  const refused: [string, unknown, string][] = [
    ['an unknown amount', { value: 'tokens' }, 'request.value: one of input_tokens'],
    ['a value and an operation', { value: 1, operation: 'sum', operands: [{ value: 1 }] }, 'request: either value, or operation'],
    [
      'an operation nobody knows',
      { operation: 'divide', operands: [{ value: 1 }] },
      'request.operation: sum or multiply is expected',
    ],
    ['a rate without a price', { value: 'rates.response_token' }, ': pay_as_you_go has no price for this rate'],
    ['too many operands', wide(50), 'request: at most 200 operands in all'],
  ];
  it.each(refused)('reject %s in a calculation', (_, request, message) => {
    expect(() => validate(pricingConfig, { pay_as_you_go: prices, calculate: { request } }, 'body')).toThrow(
      `calculate${message.startsWith(':') ? '' : '.'}${message}`,
    );
  });

  function wide(width: number): unknown {
    const inner = { operation: 'sum', operands: Array.from({ length: width }, () => ({ value: 1 })) };
    return { operation: 'sum', operands: [inner, inner, inner, inner] };
  }
});
