import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrationModels } from '../../../../../admin/resources/integrations/models/model-entity.ts';
import { expectChange, expectRefusal } from '../../../support/outcomes.ts';
import { type Plane, startPlane } from '../../../support/plane.ts';
import { hidesForeignItems, refusesMissingScopes, refusesUnknownKeys } from '../../../support/refusal-suites.ts';
import { ruleDatabases } from '../../../support/test-database.ts';

const body = { models: [{ slug: 'gpt-4o', enabled: true }] };

describe.each(ruleDatabases)('models of integrations, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
    const integration = { name: 'O', slug: 'o', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
    await plane.ask('POST', '/providers', { body: { name: 'P', slug: 'p', integration_id: 'o' } });
  });
  afterAll(() => plane?.close());

  const put = (sent: unknown) => () => plane.ask('PUT', '/integrations/o/models', { body: sent });
  const read = async (slug: string) =>
    (await plane.ask('GET', '/integrations/o/models')).body.models.find((one: { slug: string }) => one.slug === slug);
  const document = async () => (await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2Fp`)).body.document.models;
  const trace = (action: string) => ({
    resource: 'integrations',
    action,
    events: [`provider ${plane.workspaceId}/p upsert`],
  });

  it('are all allowed at first, and not sent to gateways', async () => {
    const list = (await plane.ask('GET', '/integrations/o/models')).body;
    expect(list).toMatchObject({ object: 'list', allow_all_models: true });
    expect(list.total).toBe(list.models.length);
    expect(await read('gpt-4o')).toMatchObject({ enabled: true, is_custom: false, pricing_config: null });
    expect(await document()).toBeNull();
  });

  it('are blocked except for listed ones', async () => {
    await expectChange(plane, put({ ...body, allow_all_models: false }), trace('update-models'));
    expect(await document()).toEqual({
      allowAll: false,
      list: [{ slug: 'gpt-4o', enabled: true, customHost: null }],
      headers: null,
    });
    expect((await read('gpt-4o-mini')).enabled).toBe(false);
    const mine = (await plane.ask('GET', '/providers/models', { key: plane.workspaceKey })).body.data;
    expect(mine.filter((one: { provider: string }) => one.provider === 'p')).toEqual([
      { id: '@p/gpt-4o', slug: 'gpt-4o', canonical_slug: 'gpt-4o', provider: 'p', ai_service: 'openai', object: 'model' },
    ]);
  });

  it('are disabled with their versions, except for versions that are enabled themselves', async () => {
    const integration = { name: 'V', slug: 'v', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
    await plane.ask('POST', '/providers', { body: { name: 'W', slug: 'w', integration_id: 'v' } });
    const models = [
      { slug: 'gpt-4o', enabled: false },
      { slug: 'gpt-4o-2024-11-20', enabled: true, is_custom: true },
    ];
    expect((await plane.ask('PUT', '/integrations/v/models', { body: { models } })).status).toBe(200);
    const listed = (await plane.ask('GET', '/integrations/v/models')).body.models;
    const enabled = (slug: string) => listed.find((one: { slug: string }) => one.slug === slug)?.enabled;
    expect(['gpt-4o', 'gpt-4o-2024-05-13', 'gpt-4o-2024-11-20', 'gpt-4o-mini'].map(enabled)).toEqual([false, false, true, true]);
    const sent = (await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2Fw`)).body.document.models;
    expect(sent.list).toEqual(
      expect.arrayContaining([
        { slug: 'gpt-4o', enabled: false, customHost: null },
        { slug: 'gpt-4o-2024-05-13', enabled: false, customHost: null },
        { slug: 'gpt-4o-2024-11-20', enabled: true, customHost: null },
      ]),
    );
  });

  it('are only the added ones for a custom host, not the public ones of the provider', async () => {
    const configurations = { custom_host: 'https://models.example.com/v1' };
    const integration = { name: 'H', slug: 'h', ai_provider_id: 'openai', key: 'sk-0123456789abcdef', configurations };
    expect((await plane.ask('POST', '/integrations', { body: integration })).status).toBe(200);
    expect((await plane.ask('GET', '/integrations/h/models')).body.models).toEqual([]);
    const sent = { models: [{ slug: 'llama-4', enabled: true, is_custom: true }] };
    expect((await plane.ask('PUT', '/integrations/h/models', { body: sent })).status).toBe(200);
    await plane.ask('POST', '/providers', { body: { name: 'Q', slug: 'q', integration_id: 'h' } });
    const catalogue = await plane.internal('GET', `/documents/workspace-models/${plane.workspaceId}`);
    expect(catalogue.body.document.providers.find(({ slug }: { slug: string }) => slug === 'q').models).toEqual([
      { slug: 'llama-4', canonicalSlug: null, created: 0 },
    ]);
  });

  it('keep omitted fields and sealed headers in updates of the owner', async () => {
    const model = {
      slug: 'mine',
      enabled: true,
      is_custom: true,
      base_model_slug: 'gpt-4o',
      configurations: {
        custom_host: 'https://models.example.com/v1',
        custom_headers: { 'X-Token': 'planted-0123456789', a: 'b' },
      },
      pricing_config: { type: 'static', pay_as_you_go: { request_token: { price: 1 } } },
    };
    await expectChange(plane, put({ models: [model] }), trace('update-models'));
    const shown = {
      custom_host: 'https://models.example.com/v1',
      custom_headers: { 'x-token': '****6789', a: 'b' },
    };
    expect(await read('mine')).toMatchObject({ is_custom: true, base_model_slug: 'gpt-4o', configurations: shown });
    const before = await plane.control.services.database.em().findOneOrFail(integrationModels, { slug: 'mine' });
    expect(before.customHeaders).not.toContain('planted');
    // Sending back the reply of a read changes nothing.
    const { name: _, ...same } = await read('mine');
    expect((await put({ models: [same] })()).status).toBe(200);
    expect(await read('mine')).toMatchObject(same);
    expect(JSON.stringify(await document())).not.toContain('planted');
    await put({ models: [{ slug: 'mine', enabled: false, configurations: null }] })();
    expect(await read('mine')).toMatchObject({ enabled: false, configurations: null, pricing_config: model.pricing_config });
  });

  it('are removed if custom, and stay if they are the provider’s', async () => {
    const request = () => plane.ask('DELETE', '/integrations/o/models?slugs=mine,gpt-4o');
    await expectChange(plane, request, trace('delete-models'));
    expect(await read('mine')).toBeUndefined();
    expect(await read('gpt-4o')).toMatchObject({ enabled: true });
  });

  it('accept concurrent first writes, and the last one applies', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `said-at-once-${index}`);
    const say = (enabled: boolean) =>
      Promise.all(names.flatMap((slug) => [1, 2].map(() => put({ models: [{ slug, enabled, is_custom: true }] })())));
    expect((await say(true)).map(({ status }) => status)).toEqual(names.flatMap(() => [200, 200]));
    expect((await say(false)).map(({ status }) => status)).toEqual(names.flatMap(() => [200, 200]));
    for (const slug of names) expect(await read(slug)).toMatchObject({ enabled: false, is_custom: true });
  });

  it('can be changed under the newer path, but not over a concurrent change', async () => {
    const reply = await plane.ask('GET', '/integrations/o/integration-models');
    const etag = reply.headers.get('etag') ?? '';
    const change = (path: string) =>
      plane.ask('PUT', path, { body: { ...body, allow_all_models: true }, headers: { 'if-match': etag } });
    expect((await change('/integrations/o/integration-models')).status).toBe(200);
    await expectRefusal(plane, () => change('/integrations/o/models'), 412, 'AB12', true);
  });

  const refused: [string, unknown, string][] = [
    ['no list', {}, 'models: required'],
    ['a name twice', { models: [body.models[0], body.models[0]] }, 'models: the same model twice'],
    ['an unknown field', { models: [{ slug: 'x', enabled: true, colour: 1 }] }, 'models[0].colour: unknown key'],
    [
      'a private host',
      { models: [{ slug: 'x', enabled: true, configurations: { custom_host: 'http://192.168.0.1/' } }] },
      'models[0].configurations.custom_host: must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
    ],
    [
      'a header that is the gateway’s',
      { models: [{ slug: 'x', enabled: true, custom_headers: { Host: 'x' } }] },
      'models[0].custom_headers.Host: this header is set by the gateway',
    ],
    [
      'a negative price',
      { models: [{ slug: 'x', enabled: true, pricing_config: { pay_as_you_go: { request_token: { price: -1 } } } }] },
      'models[0].pricing_config.pay_as_you_go.request_token.price: at least 0',
    ],
  ];
  it.each(refused)('reject %s with the field', async (_, sent, start) => {
    const reply = await expectRefusal(plane, put(sent), 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
  });
});

const probes = ['models', 'integration-models'].flatMap((name) => [
  { method: 'GET' as const, path: `/integrations/mock/${name}` },
  { method: 'PUT' as const, path: `/integrations/mock/${name}`, body },
  { method: 'DELETE' as const, path: `/integrations/mock/${name}?slugs=x` },
]);
const tests = [
  { method: 'POST' as const, path: '/integrations/mock/test', body: {} },
  { method: 'POST' as const, path: '/integrations/test', body: { ai_provider_id: 'mock' } },
];
refusesUnknownKeys('models of integrations', probes.slice(0, 3));
refusesMissingScopes('models and tests of integrations', [...probes, ...tests]);
hidesForeignItems(
  'models of integrations',
  async (plane) => {
    const made = await plane.ask('POST', '/integrations', { body: { name: 'A', slug: 'foreign', ai_provider_id: 'openai' } });
    return [made.body.id, 'foreign'];
  },
  (name) => [
    { method: 'GET', path: `/integrations/${name}/models` },
    { method: 'PUT', path: `/integrations/${name}/models`, body },
    { method: 'DELETE', path: `/integrations/${name}/models?slugs=x` },
    { method: 'POST', path: `/integrations/${name}/test`, body: {} },
  ],
);
