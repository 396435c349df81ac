import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('public model data, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it('includes prices in cents per token for everyone, with and without a version', async () => {
    for (const prefix of ['', '/v1', '/v2']) {
      const reply = await fetch(`${plane.url}${prefix}/model-configs/pricing/openai/gpt-4o-mini`);
      expect(reply.status).toBe(200);
      expect(await reply.json()).toMatchObject({
        pay_as_you_go: { request_token: { price: 0.000015 }, response_token: { price: 0.00006 } },
        currency: 'USD',
      });
    }
    const general = await (await fetch(`${plane.url}/model-configs/general/openai/gpt-4o`)).json();
    expect(general).toMatchObject({ model: 'gpt-4o', context_window: 128_000 });
  });

  it('includes models whose names contain slashes, and 404 for unknown ones', async () => {
    const model = 'Gryphe/MythoMax-L2-13b';
    expect((await fetch(`${plane.url}/model-configs/pricing/together-ai/${model}`)).status).toBe(200);
    for (const missing of ['no-such-model', 'a%0Ab', '%0A']) {
      const none = await fetch(`${plane.url}/model-configs/pricing/openai/${missing}`);
      expect({ status: none.status, body: await none.json() }).toEqual({ status: 404, body: { error: 'Model not found' } });
    }
  });

  it('includes provider types, and prices of all models of one', async () => {
    const types = (await plane.ask('GET', '/utils/static-resources/ai-providers')).body;
    expect(types.success).toBe(true);
    expect(types.data).toContainEqual(expect.objectContaining({ slug: 'azure-openai', name: 'Azure OpenAI', status: 'active' }));
    expect((await plane.ask('GET', '/utils/static-resources/integration-providers')).body).toEqual(types);
    const all = (await plane.ask('GET', '/utils/model-configs/pricing/openai')).body;
    expect(all.data['gpt-4o'].pay_as_you_go.request_token.price).toBe(0.00025);
    const one = (await plane.ask('GET', '/utils/model-configs/general/openai/gpt-4o')).body;
    expect(one.data.context_window).toBe(128_000);
    await expectRefusal(plane, () => plane.ask('GET', '/utils/model-configs/pricing/none'), 404, 'AB08', false);
    await expectRefusal(plane, () => plane.ask('GET', '/utils/model-configs/other/openai'), 404, 'AB08', false);
  });
});

const probes = ['/utils/static-resources/ai-providers', '/utils/model-configs/pricing/openai'].map((path) => ({
  method: 'GET' as const,
  path,
}));
refusesUnknownKeys('what is known of models', probes);
refusesMissingScopes('what is known of models', probes);
