import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requestRecords } from '../../../admin/resources/logs/entity.ts';
import type { RequestRecord } from '../../../core/contract/plugin/record/record.ts';
import { sampleRecord } from '../../support/samples/sample-record.ts';
import { type Plane, startPlane } from '../support/plane.ts';
import { databases } from '../support/test-database.ts';

const drawing = {
  type: 'static',
  pay_as_you_go: {
    request_token: { price: 5 },
    image: { default: { default: { price: 0.04 } }, hd: { default: { price: 0.08 }, '1024x1792': { price: 0.12 } } },
  },
};
const chat = {
  type: 'static',
  pay_as_you_go: { request_token: { price: 2 }, response_token: { price: 8 } },
  service_tiers: { flex: { pay_as_you_go: { request_token: { price: 1 }, response_token: { price: 4 } } } },
};
const doubled = {
  type: 'static',
  pay_as_you_go: { request_token: { price: 2 }, response_token: { price: 8 } },
  calculate: {
    request: { operation: 'multiply', operands: [{ value: 'input_tokens' }, { value: 'rates.request_token' }, { value: 2 }] },
  },
};

describe.each(databases)('prices saved with models, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    const body = {
      name: 'O',
      slug: 'o',
      ai_provider_id: 'openai',
      key: 'sk-1',
      pricing_adjustments: { multiplier: { default: 0.5 } },
    };
    expect((await plane.ask('POST', '/integrations', { body })).status).toBe(200);
    expect((await plane.ask('POST', '/providers', { body: { name: 'P', slug: 'p', integration_id: 'o' } })).status).toBe(200);
    const models = Object.entries({ drawing, chat, doubled }).map(([slug, pricing_config]) => {
      return { slug, enabled: true, is_custom: true, pricing_config };
    });
    const put = await plane.ask('PUT', '/integrations/o/models', { body: { models } });
    expect(put.status, JSON.stringify(put.body)).toBe(200);
  });
  afterAll(() => plane?.close());

  const costOf = async (model: string, changes: Partial<RequestRecord>, slug = 'p') => {
    const { organisationId, workspaceId } = plane;
    const tokens = { inputTokens: 0, outputTokens: 0 };
    const record = sampleRecord({
      organisationId,
      workspaceId,
      apiKeyId: null,
      providerSlug: slug,
      model,
      ...tokens,
      ...changes,
    });
    expect((await plane.internal('POST', '/records', [record])).body.inserted).toBe(1);
    const row = await plane.control.services.database.em().findOneOrFail(requestRecords, { id: record.id });
    return changes.saved ? [row.costMicroUsd, row.savedNano] : [row.costMicroUsd, row.priceSource];
  };
  const media = {
    audioInputTokens: 0,
    audioOutputTokens: 0,
    imageInputTokens: 0,
    imageOutputTokens: 0,
    units: { generated_images: 2 },
  };
  const quote = async (model: string) => {
    const query = `/rates?workspace=${plane.workspaceId}&provider=openai&slug=p&model=${model}`;
    return (await plane.internal('GET', query)).body.rates;
  };

  it('are returned as they were sent', async () => {
    const { models } = (await plane.ask('GET', '/integrations/o/models')).body;
    const read = (slug: string) => models.find((one: { slug: string }) => one.slug === slug).pricing_config;
    expect([read('drawing'), read('chat'), read('doubled')]).toEqual([drawing, chat, doubled]);
  });

  it('bill images by quality and size, service tiers, and calculations', async () => {
    expect(await costOf('drawing', { media, image: { quality: 'hd', size: '1024x1792' } })).toEqual([120_000, 'model']);
    expect(await costOf('drawing', { media, image: { quality: null, size: null } })).toEqual([40_000, 'model']);
    expect(await costOf('chat', { inputTokens: 100, outputTokens: 10 })).toEqual([140, 'model']);
    expect(await costOf('chat', { inputTokens: 100, outputTokens: 10, serviceTier: 'flex' })).toEqual([70, 'model']);
    expect(await costOf('doubled', { inputTokens: 100, outputTokens: 10 })).toEqual([240, 'model']);
  });

  it('are quoted to gateways in all their forms', async () => {
    expect(await quote('drawing')).toMatchObject({
      input: 2.5,
      images: { default: { default: 20_000 }, hd: { default: 40_000, '1024x1792': 60_000 } },
    });
    expect(await quote('chat')).toEqual({
      input: 1,
      output: 4,
      cacheRead: 1,
      tiers: { flex: { input: 0.5, output: 2, cacheRead: 0.5 } },
    });
    expect(await quote('doubled')).toEqual({ input: 2, output: 4, cacheRead: 0 });
  });

  it('are absent: gateways get the public prices of the model’s service tiers', async () => {
    const usual = { input: 0.625, output: 5, cacheRead: 0.0625 };
    const tiers = {
      flex: { input: 0.3125, output: 2.5, cacheRead: 0.03125 },
      priority: { input: 1.25, output: 10, cacheRead: 0.125 },
      fast: { input: 1.25, output: 10, cacheRead: 0.125 },
    };
    // The multiplier of the integration is 0.5.
    expect(await quote('gpt-5')).toEqual({ ...usual, tiers, searches: { web_search: 5_000, file_search: 1_250 } });
    expect(await quote('text-embedding-3-small')).not.toHaveProperty('tiers');
    expect(await quote('gpt-image-1.5')).toMatchObject({ output: 5, imageOutput: 16 });
    expect(await quote('gpt-image-1')).not.toHaveProperty('imageOutput');
    expect(await quote('tts-1')).toEqual({ input: 0, output: 0, cacheRead: 0, characters: 7.5 });
    expect(await quote('gpt-audio')).toMatchObject({ input: 1.25, output: 5, audioInput: 16, audioOutput: 32 });
  });

  it('are absent: gateways get the public prices of long calls and of searches', async () => {
    const ofGoogle = async (model: string) => {
      const query = `/rates?workspace=${plane.workspaceId}&provider=google&model=${model}`;
      return (await plane.internal('GET', query)).body.rates;
    };
    expect(await ofGoogle('gemini-2.5-pro')).toMatchObject({
      ...{ input: 1.25, output: 10, cacheRead: 0.125 },
      sizes: [{ above: 200_000, input: 2.5, output: 15, cacheRead: 0.25 }],
      searches: { grounded_prompts: 35_000 },
    });
    expect((await ofGoogle('gemini-3.1-pro-preview')).searches).toEqual({ web_search: 14_000 });
  });

  it('exclude calls that provisioned throughput served, and hits that repeat them, if the integration sets that', async () => {
    const rawUsage = { trafficType: 'PROVISIONED_THROUGHPUT' };
    const usage = { provider: 'vertex-ai', inputTokens: 100, rawUsage };
    for (const skips of [true, false]) {
      const slug = `vertex-${skips}`;
      const configurations = {
        vertex_auth_type: 'basic',
        vertex_region: 'us-central1',
        vertex_project_id: 'acme',
        vertex_skip_ptu_cost_attribution: skips,
      };
      const body = { name: slug, slug, ai_provider_id: 'vertex-ai', key: 'k', configurations };
      expect((await plane.ask('POST', '/integrations', { body })).status).toBe(200);
      await plane.ask('POST', '/providers', { body: { name: slug, slug, integration_id: slug } });
      const model = { slug: 'gemini', enabled: true, is_custom: true, pricing_config: chat };
      await plane.ask('PUT', `/integrations/${slug}/models`, { body: { models: [model] } });
      expect(await costOf('gemini', usage, slug)).toEqual(skips ? [0, null] : [200, 'model']);
      expect(await costOf('gemini', { ...usage, rawUsage: null }, slug)).toEqual([200, 'model']);
      const call = { provider: 'vertex-ai', providerSlug: slug, model: 'gemini', inputTokens: 100, outputTokens: 0 };
      const saved = { ...call, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, ...rawUsage };
      expect(await costOf('gemini', { cacheStatus: 'HIT', saved }, slug)).toEqual([0, skips ? 0 : 200_000]);
    }
  });
});
