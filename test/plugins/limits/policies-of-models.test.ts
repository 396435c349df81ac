import { describe, expect, it } from 'vitest';
import type { ProviderDocument } from '../../../core/contract/protocol/documents.ts';
import type { PolicyCondition } from '../../../core/contract/protocol/limits/policies.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { workspaceId } from '../../../core/test-kit/pipeline-harness.ts';
import { body } from './limits-harness.ts';
import { rate, start, usage } from './policies-harness.ts';

describe('policies and models that a provider may call besides the model', () => {
  const both = { ...body, models: ['gpt-6'] };
  const dear: PolicyCondition[] = [{ key: 'model', value: '@openai/gpt-6' }];

  it.each<[string, JsonObject]>([
    ['models', both],
    ['a list', { ...body, model: ['gpt-5', 'gpt-6'] }],
    ['fallbacks', { ...body, fallbacks: [{ model: 'gpt-6' }] }],
    ['a tool', { ...body, tools: [{ type: 'image_generation', model: 'gpt-6' }] }],
  ])('match by a model in %s', async (_name, sent) => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      const { ask } = start({ rate: [rate({ conditions: dear })] });
      expect([(await ask({}, sent, path)).status, (await ask({}, sent, path)).status]).toEqual([200, 429]);
    }
  });

  it('match by a model in a header that a provider reads', async () => {
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      const { ask } = start({ rate: [rate({ conditions: dear })] });
      const other = { 'x-ms-oai-image-generation-deployment': 'gpt-6' };
      expect([(await ask(other, body, path)).status, (await ask(other, body, path)).status]).toEqual([200, 429]);
    }
  });

  it('match by a model in a field of a pass-through body that one provider reads', async () => {
    const { ask } = start({ rate: [rate({ conditions: dear })] });
    const sent = { ...body, version: 'gpt-6' };
    expect([
      (await ask({}, sent, '/v1/proxy/predictions')).status,
      (await ask({}, sent, '/v1/proxy/predictions')).status,
    ]).toEqual([200, 429]);
  });

  it('match if one of the models is not excluded', async () => {
    const conditions: PolicyCondition[] = [{ key: 'model', value: '*', excludes: '@openai/gpt-5' }];
    const { ask } = start({ rate: [rate({ conditions })] });
    expect([(await ask()).status, (await ask({}, both)).status, (await ask({}, both)).status]).toEqual([200, 200, 429]);
  });

  it('count the call in the group of each model, and once in other groups', async () => {
    const policies = { usage: [usage({ groupBy: ['model'] })], rate: [rate({ value: 2 })] };
    const { ask, records } = start(policies);
    expect((await ask({}, both)).status).toBe(200);
    const counters = records[0]?.reservations?.map(({ units }) => units);
    expect(counters).toEqual([1, 1, 1]);
    expect([(await ask()).status, (await ask({}, { ...body, model: 'gpt-6' })).status]).toEqual([412, 412]);
    expect((await ask({}, { ...body, model: 'gpt-4' })).status).toBe(200);
  });

  it.each([
    ['another spelling', 'application/json', '{"model":"gpt-5","Model":"gpt-6"}'],
    ['an escaped name', 'application/json', '{"model":"gpt-5","\\u006dodel":"gpt-6"}'],
    ['a body of another type', 'text/plain', '{"model":"gpt-6"}'],
  ])('match by %s on a pass-through route', async (_name, type, sent) => {
    const { harness } = start({ rate: [rate({ conditions: dear })] });
    const headers = { 'x-svc-api-key': harness.key, 'x-svc-provider': '@one', 'content-type': type };
    const send = async () =>
      (await harness.send({ method: 'POST', path: '/v1/proxy/chat/completions', headers, body: sent })).status;
    expect([await send(), await send()]).toEqual([200, 429]);
  });

  it('reject a compressed body, and JSON that is too long to be read', async () => {
    const path = '/v1/proxy/chat/completions';
    const { ask } = start({ rate: [rate({ conditions: dear })] });
    expect((await ask({ 'content-encoding': 'gzip' }, body, path)).status).toBe(400);
    const long = { ...body, messages: [{ role: 'user', content: 'a'.repeat(1_100_000) }] };
    expect((await ask({}, long, path)).status).toBe(413);
    expect((await start({ rate: [rate()] }).ask({ 'content-encoding': 'gzip' }, body, path)).status).toBe(200);
  });

  it('match by the model of a path that only one provider has, whatever the body names', async () => {
    const { ask, harness } = start({ rate: [rate({ conditions: [{ key: 'model', value: '@segmind/flux' }] })] });
    const id = `provider ${workspaceId}/one`;
    harness.documents.set(id, { ...(harness.documents.get(id) as ProviderDocument), provider: 'segmind' });
    const path = '/v1/proxy/flux';
    expect([(await ask({}, body, path)).status, (await ask({}, body, path)).status]).toEqual([200, 429]);
  });

  it('match by the model of a long body on a pass-through route', async () => {
    const { ask } = start({ rate: [rate({ conditions: [{ key: 'model', value: '@openai/gpt-5' }] })] });
    const long = { messages: [{ role: 'user', content: 'a'.repeat(70_000) }], model: 'gpt-5' };
    const path = '/v1/proxy/chat/completions';
    expect([(await ask({}, long, path)).status, (await ask({}, long, path)).status]).toEqual([200, 429]);
  });

  it('are rejected if the models cannot be read', async () => {
    const { ask } = start({ rate: [rate({ conditions: dear })] });
    expect((await ask({}, { ...body, models: 'gpt-6' })).status).toBe(400);
    expect((await start({ rate: [rate()] }).ask({}, { ...body, models: 'gpt-6' })).status).toBe(200);
  });
});
