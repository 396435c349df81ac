import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type IntegrationPricing, priceRecord } from '../../../admin/pricing/price-record.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { usageOf } from '../../../core/formats/anthropic/usage.ts';
import { imageGenerations } from '../../../core/formats/media/images.ts';
import { realtimeUsage } from '../../../core/formats/openai/realtime.ts';
import { usageOfResponse } from '../../../core/formats/openai/responses.ts';
import { passedUsage } from '../../../core/providers/passed-usage.ts';
import { SessionUsage } from '../../../core/realtime/session-usage.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';

const saved = (input: number, output: number) => {
  const value = {
    type: 'static' as const,
    pay_as_you_go: { request_token: { price: input }, response_token: { price: output } },
  };
  return { pricing: [{ from: null, value }], baseModel: null };
};
const prices = (...models: [string, ReturnType<typeof saved>][]): IntegrationPricing => ({
  adjustments: [],
  models: new Map(models),
  aliases: new Map(),
});
const executor: [string, ReturnType<typeof saved>] = ['executor', saved(1, 2)];
const advisor: [string, ReturnType<typeof saved>] = ['advisor', saved(10, 20)];

function price(usage: Partial<RequestRecord>, own: IntegrationPricing) {
  const record = sampleRecord({ provider: 'own', model: 'executor', ...usage });
  return priceRecord(record, own);
}

describe('a call that several models served', () => {
  const counts = {
    input_tokens: 100,
    output_tokens: 10,
    iterations: [
      { type: 'message', input_tokens: 100, output_tokens: 10 },
      { type: 'advisor_message', model: 'advisor', input_tokens: 500, cache_read_input_tokens: 20, output_tokens: 60 },
    ],
  };
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, raw: rawUsage } = usageOf(counts);
  const advised = { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, rawUsage };

  it('has the price of each model for its tokens', () => {
    const nanoUsd = (100 * 1 + 10 * 2 + 520 * 10 + 60 * 20) * 1_000;
    expect(price(advised, prices(executor, advisor))).toEqual({ costNanoUsd: nanoUsd, source: 'model' });
  });

  it('has the price of the request’s model for tokens of an advisor without a price', () => {
    expect(price(advised, prices(executor)).costNanoUsd).toBe((620 * 1 + 70 * 2) * 1_000);
  });

  it('has no price if the request’s model has none', () => {
    expect(price(advised, prices(advisor))).toEqual({ costNanoUsd: null, source: 'unknown' });
  });
});

describe('images of a tool in a response', () => {
  const image_gen = { input_tokens: 30, output_tokens: 196, output_tokens_details: { image_tokens: 196 } };
  const response = (tools: unknown) => {
    const usage = { input_tokens: 100, output_tokens: 10 };
    const counted = usageOfResponse({ usage, tool_usage: { image_gen, web_search: { num_requests: 0 } }, tools });
    return { inputTokens: 100, outputTokens: 10, rawUsage: counted?.raw ?? null };
  };
  const artist: [string, ReturnType<typeof saved>] = ['artist', saved(5, 40)];

  it('have the price of the model that the tool names', () => {
    const usage = response([{ type: 'image_generation', model: 'artist' }]);
    expect(price(usage, prices(executor, artist)).costNanoUsd).toBe((120 + 30 * 5 + 196 * 40) * 1_000);
    expect(price(usage, prices(executor)).costNanoUsd).toBe(120_000);
  });

  it('are not priced if the response does not name their model', () => {
    for (const tools of [undefined, 'none', [{ type: 'image_generation' }], [{ type: 'web_search', model: 'artist' }]])
      expect(price(response(tools), prices(executor, artist)).costNanoUsd).toBe(120_000);
  });
});

describe('an SVG that a model has written', () => {
  const usage = { input_tokens: 100, output_tokens: 10 };
  const author: [string, ReturnType<typeof saved>] = ['author', saved(5, 40)];
  const svg_usage = { model: 'author', input_tokens: 30, output_tokens: 50, reasoning_tokens: 20, total_tokens: 80 };

  it('has the price of that model beside the price of the image', () => {
    const counted = imageGenerations('openai', () => '/images').usage({ data: [], usage, svg_usage });
    const record = { inputTokens: 100, outputTokens: 10, rawUsage: counted?.raw ?? null };
    expect(price(record, prices(executor, author)).costNanoUsd).toBe((120 + 30 * 5 + 50 * 40) * 1_000);
  });

  it('has it in pass-through replies too', () => {
    const record = { inputTokens: 100, outputTokens: 10, rawUsage: passedUsage.read({ ...usage, svg_usage }, null)?.raw ?? null };
    expect(price(record, prices(executor, author)).costNanoUsd).toBe((120 + 30 * 5 + 50 * 40) * 1_000);
  });

  it('has it for each SVG in a response', () => {
    const call = { type: 'image_generation_call', output_format: 'svg', svg_usage };
    const record = {
      inputTokens: 100,
      outputTokens: 10,
      rawUsage: usageOfResponse({ usage, output: [call, call] })?.raw ?? null,
    };
    expect(price(record, prices(executor, author)).costNanoUsd).toBe((120 + 2 * (30 * 5 + 50 * 40)) * 1_000);
  });

  it('has it in a session, as the image of a tool has', () => {
    const session = new SessionUsage(realtimeUsage);
    const response = {
      ...{ usage, output: [{ svg_usage }], tools: [{ type: 'image_generation', model: 'author' }] },
      tool_usage: { image_gen: { input_tokens: 30, output_tokens: 50 } },
    };
    session.take(Buffer.from(JSON.stringify({ type: 'response.completed', response })));
    const record = { inputTokens: 100, outputTokens: 10, rawUsage: session.total()?.raw ?? null };
    expect(price(record, prices(executor, author)).costNanoUsd).toBe((120 + 2 * (30 * 5 + 50 * 40)) * 1_000);
  });
});

it('names of models that callers send in a usage do not stay in memory, however long they are', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const advisorOf = (model: string) => ({ iterations: [{ type: 'advisor_message', model, input_tokens: 1 }] });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 20; at++)
    price({ provider: 'openai', model: 'gpt-4o', rawUsage: advisorOf(`${at}`.padEnd(1_000_000, 'x')) }, prices());
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
});
