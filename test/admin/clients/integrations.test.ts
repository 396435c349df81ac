import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from '../support/plane.ts';
import { ruleDatabase } from '../support/test-database.ts';

/** Bodies of integrations, their models and their access, as the reference Terraform provider sends and compares them. */
let plane: Plane;

beforeAll(async () => {
  plane = await startPlane(ruleDatabase);
});
afterAll(() => plane?.close());

const created = async (body: object): Promise<string> => {
  const reply = await plane.ask('POST', '/integrations', { body: { name: 'tf', ...body } });
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 200 });
  return reply.body.slug;
};
const read = async (slug: string) => (await plane.ask('GET', `/integrations/${slug}`)).body;

describe('type', () => {
  it('is organisation or workspace, in reads and lists, with the organisation first', async () => {
    const own = await created({ ai_provider_id: 'openai', key: 'k' });
    const bound = await created({ ai_provider_id: 'openai', key: 'k', workspace_id: plane.workspaceId });
    expect(await read(own)).toMatchObject({ type: 'organisation', workspace_id: null });
    expect(await read(bound)).toMatchObject({ type: 'workspace', workspace_id: plane.workspaceId });
    const list = (await plane.ask('GET', '/integrations')).body.data as { type: string; slug: string }[];
    const types = list.map((one) => one.type);
    expect(types).toEqual([...types].sort());
    expect(list[0]).toMatchObject({ slug: own });
    expect(list.at(-1)).toMatchObject({ slug: bound, type: 'workspace' });
  });
});

describe('configurations', () => {
  const entra = { azure_entra_tenant_id: 't', azure_entra_client_id: 'c', azure_entra_client_secret: 's' };
  const foundry = { azure_foundry_url: 'https://r.services.ai.azure.com', azure_api_version: '2024-05-01-preview' };
  const workload = { azure_auth_mode: 'workload', azure_workload_tenant_id: 't', azure_workload_client_id: 'c' };
  const deployment = { azure_deployment_name: 'd', azure_api_version: 'v1', azure_model_slug: 'gpt-4o' };
  const resource = { azure_resource_name: 'r', azure_deployment_config: [deployment] };

  it.each([
    ['azure-openai', { ...resource, ...workload, is_key_required: false }],
    ['azure-ai', { ...foundry, azure_auth_mode: 'entra', ...entra, is_key_required: false }],
    ['azure-ai', { ...foundry, azure_auth_mode: 'managed', azure_managed_client_id: 'c', is_key_required: false }],
    ['azure-ai', { ...foundry, ...workload, is_key_required: false }],
    [
      'vertex-ai',
      {
        vertex_auth_type: 'workload',
        vertex_project_id: 'p',
        vertex_region: 'us-central1',
        is_key_required: false,
        vertex_skip_ptu_cost_attribution: false,
        vertex_map_metadata: false,
      },
    ],
  ])('configurations of %s accept %j and return non-secret fields as sent', async (type, configurations) => {
    const shown = (await read(await created({ ai_provider_id: type, configurations }))).configurations;
    const { azure_entra_client_secret: _, ...plain } = configurations as Record<string, unknown>;
    expect(shown).toMatchObject(plain);
  });

  const client = { oauth_token_endpoint: 'https://login.example.com/token', oauth_client_id: 'c', oauth_client_secret: 's' };
  const ofOpenAi = { wif_identity_provider_id: 'idp', wif_service_account_id: 'sa' };
  it.each([
    ['openai', ofOpenAi, null],
    ['anthropic', { wif_federation_rule_id: 'r', wif_organization_id: 'o', wif_service_account_id: 's' }, null],
    ['openai', {}, 'configurations.wif_identity_provider_id: required with provider_auth_type wif'],
    ['groq', {}, 'configurations.provider_auth_type: wif is for anthropic and openai; '],
  ])('configurations: provider_auth_type wif of %s with %j', async (type, own, error) => {
    const configurations = { provider_auth_type: 'wif', ...client, ...own };
    const reply = await plane.ask('POST', '/integrations', { body: { name: 'wif', ai_provider_id: type, configurations } });
    if (error !== null) return expect(reply.body.data.errors[0]).toContain(error);
    const shown = (await read(reply.body.slug)).configurations;
    expect(shown).toMatchObject({ provider_auth_type: 'wif', ...own });
    expect(shown.oauth_client_secret).not.toBe('s');
  });

  it('require a key with is_key_required true', async () => {
    const body = { name: 'n', ai_provider_id: 'openai', configurations: { is_key_required: true } };
    const reply = await plane.ask('POST', '/integrations', { body });
    expect(reply).toMatchObject({ status: 400, body: { data: { errors: ['key: required with is_key_required true'] } } });
    expect(await plane.ask('POST', '/integrations', { body: { ...body, key: 'k' } })).toMatchObject({ status: 200 });
  });
});

describe('models', () => {
  const models = async (slug: string) =>
    (await plane.ask('GET', `/integrations/${slug}/models`)).body.models as { slug: string }[];
  const custom = (slug: string) => ({ slug, enabled: true, is_custom: true });

  it.each([
    ['the body', (slug: string) => [`/integrations/${slug}/models`, { models: ['one', 'two'] }] as const],
    ['the query', (slug: string) => [`/integrations/${slug}/models?slugs=one,two`, undefined] as const],
  ])('models: %s removes the named ones', async (_, request) => {
    const slug = await created({ ai_provider_id: 'openai', key: 'k' });
    await plane.ask('PUT', `/integrations/${slug}/models`, { body: { models: ['one', 'two', 'three'].map(custom) } });
    const [path, body] = request(slug);
    expect(await plane.ask('DELETE', path, body === undefined ? {} : { body })).toMatchObject({ status: 200 });
    const left = (await models(slug)).map((one) => one.slug);
    expect(left).toContain('three');
    expect(left).not.toContain('one');
    expect(left).not.toContain('two');
  });

  it('are not removed by a request without names', async () => {
    const slug = await created({ ai_provider_id: 'openai', key: 'k' });
    const reply = await plane.ask('DELETE', `/integrations/${slug}/models`);
    expect(reply.body.data.errors).toEqual(['slugs: required in the query, or models in the body']);
  });

  it('have the sent name, else their slug', async () => {
    const slug = await created({ ai_provider_id: 'openai', key: 'k' });
    const put = (body: object) => plane.ask('PUT', `/integrations/${slug}/models`, { body: { models: [body] } });
    const nameOf = async () => (await models(slug)).find((one) => one.slug === 'mine');
    await put({ ...custom('mine'), name: 'Mine' });
    expect(await nameOf()).toMatchObject({ name: 'Mine' });
    await put(custom('mine'));
    expect(await nameOf()).toMatchObject({ name: 'Mine' });
    await put({ ...custom('mine'), name: null });
    expect(await nameOf()).toMatchObject({ name: 'mine' });
  });
});

describe('limits', () => {
  it('are returned without a type if none was sent, in US dollars', async () => {
    const sent = { credit_limit: 100, alert_threshold: 75, periodic_reset: 'monthly' };
    const body = { name: 'k', scopes: ['completions.write'], usage_limits: sent };
    const { id } = (await plane.ask('POST', '/api-keys/workspace/service', { body })).body;
    const { usage_limits: shown } = (await plane.ask('GET', `/api-keys/${id}`)).body;
    expect(shown).toMatchObject(sent);
    expect(shown).not.toHaveProperty('type');
    await plane.ask('PUT', `/api-keys/${id}`, { body: { usage_limits: { credit_limit: 200 } } });
    expect((await plane.ask('GET', `/api-keys/${id}`)).body.usage_limits).not.toHaveProperty('type');
    await plane.ask('PUT', `/api-keys/${id}`, { body: { usage_limits: { type: 'cost', credit_limit: 200 } } });
    expect((await plane.ask('GET', `/api-keys/${id}`)).body.usage_limits).toMatchObject({ type: 'cost', credit_limit: 200 });
  });

  it('accept a limit of one token', async () => {
    const body = { name: 'k', scopes: ['completions.write'], usage_limits: { type: 'tokens', credit_limit: 1 } };
    expect(await plane.ask('POST', '/api-keys/workspace/service', { body })).toMatchObject({ status: 200 });
  });

  it('for the access of a workspace may have a threshold above the limit', async () => {
    const slug = await created({ ai_provider_id: 'openai', key: 'k' });
    const usage_limits = [{ type: 'cost', credit_limit: 50, alert_threshold: 75 }];
    const body = { workspaces: [{ id: plane.workspaceId, enabled: true, usage_limits }] };
    expect(await plane.ask('PUT', `/integrations/${slug}/workspaces`, { body })).toMatchObject({ status: 200 });
    const access = (await plane.ask('GET', `/integrations/${slug}/workspaces`)).body.workspaces;
    expect(access).toMatchObject([{ id: plane.workspaceId, usage_limits }]);
  });

  it('are stored and returned for organisation keys', async () => {
    const config = { name: 'tf', config: { retry: { attempts: 1 } }, workspace_id: plane.workspaceId };
    const { id: config_id } = (await plane.ask('POST', '/configs', { body: config })).body;
    const sent = {
      usage_limits: { type: 'cost', credit_limit: 100, alert_threshold: 80, periodic_reset: 'monthly' },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 100 }],
      defaults: { config_id, allow_config_override: false, metadata: {} },
    };
    const body = { name: 'k', scopes: ['workspaces.list'], ...sent };
    const { id } = (await plane.ask('POST', '/api-keys/organisation/service', { body })).body;
    const shown = (await plane.ask('GET', `/api-keys/${id}`)).body;
    expect(shown).toMatchObject({ ...sent, defaults: { config_id, metadata: {} }, allow_config_override: 0 });
    const cleared = { usage_limits: null, rate_limits: [], defaults: { config_id: null } };
    expect(await plane.ask('PUT', `/api-keys/${id}`, { body: cleared })).toMatchObject({ status: 200 });
    const after = (await plane.ask('GET', `/api-keys/${id}`)).body;
    expect(after).toMatchObject({ usage_limits: null, rate_limits: [], defaults: { config_id: null } });
  });
});
