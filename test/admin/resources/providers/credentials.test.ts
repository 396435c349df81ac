import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrations } from '../../../../admin/resources/integrations/entity.ts';
import { shownSettingsOf } from '../../../../admin/resources/integrations/headers.ts';
import { openSecrets } from '../../../../admin/resources/integrations/secrets.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const account = { type: 'service_account', project_id: 'acme', client_email: 'gateway@acme.example', private_key: 'planted' };

const fingerprint = '20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34';
const pem = '-----BEGIN PRIVATE KEY-----\nplanted\n-----END PRIVATE KEY-----';

/** Every inline credential of older clients, and its stored form: settings, and secrets by name. */
const cases: [
  provider: string,
  sent: Record<string, unknown>,
  settings: Record<string, unknown>,
  secrets: Record<string, string>,
][] = [
  [
    'bedrock',
    { awsAuthType: 'accessKey', awsAccessKeyId: 'AKIA', awsSecretAccessKey: 'secret', awsRegion: 'us-east-1' },
    { aws_auth_type: 'accessKey', aws_region: 'us-east-1' },
    { aws_access_key_id: 'AKIA', aws_secret_access_key: 'secret' },
  ],
  [
    'bedrock',
    { awsAuthType: 'assumedRole', awsRoleArn: 'arn:aws:iam::123456789012:role/r', awsExternalId: 'ext', awsRegion: 'us-east-1' },
    {
      aws_auth_type: 'assumedRole',
      aws_role_arn: 'arn:aws:iam::123456789012:role/r',
      aws_external_id: 'ext',
      aws_region: 'us-east-1',
    },
    {},
  ],
  [
    'vertex-ai',
    {
      vertexAuthType: 'serviceAccount',
      vertexProjectId: 'acme',
      vertexRegion: 'us-central1',
      vertexSkipPtuCostAttribution: true,
      vertexServiceAccountJson: account,
    },
    {
      vertex_auth_type: 'serviceAccount',
      vertex_project_id: 'acme',
      vertex_region: 'us-central1',
      vertex_skip_ptu_cost_attribution: true,
    },
    { vertex_service_account_json: JSON.stringify(account) },
  ],
  [
    'azure-ai',
    {
      azureAuthMode: 'entra',
      azureFoundryUrl: 'https://acme.services.ai.azure.com',
      azureApiVersion: '2024-05-01-preview',
      azureRegion: 'eastus',
      azureDeploymentType: 'serverless',
      azureEndpointName: 'endpoint',
      azureDeploymentName: 'deployment',
      azureEntraClientId: 'client',
      azureEntraClientSecret: 'secret',
      azureEntraTenantId: 'tenant',
    },
    {
      azure_auth_mode: 'entra',
      azure_foundry_url: 'https://acme.services.ai.azure.com',
      azure_api_version: '2024-05-01-preview',
      azure_region: 'eastus',
      azure_deployment_type: 'serverless',
      azure_endpoint_name: 'endpoint',
      azure_deployment_name: 'deployment',
      azure_entra_client_id: 'client',
      azure_entra_tenant_id: 'tenant',
    },
    { azure_entra_client_secret: 'secret' },
  ],
  [
    'azure-openai',
    {
      azureAuthMode: 'managed',
      azureManagedClientId: 'client',
      resourceName: 'res',
      deploymentName: 'dep',
      apiVersion: '2024-10-21',
    },
    {
      azure_auth_mode: 'managed',
      azure_managed_client_id: 'client',
      azure_resource_name: 'res',
      azure_deployment_config: [{ azure_deployment_name: 'dep', azure_api_version: '2024-10-21', azure_model_slug: 'dep' }],
    },
    {},
  ],
  [
    'oracle',
    {
      oracleRegion: 'us-chicago-1',
      oracleVersion: '20231130',
      oracleCompartmentId: 'ocid1.compartment.oc1..a',
      oracleTenancy: 'ocid1.tenancy.oc1..a',
      oracleUser: 'ocid1.user.oc1..a',
      oracleFingerprint: fingerprint,
      oraclePrivateKey: pem,
    },
    {
      oracle_region: 'us-chicago-1',
      oracle_api_version: '20231130',
      oracle_compartment_id: 'ocid1.compartment.oc1..a',
      oracle_tenancy: 'ocid1.tenancy.oc1..a',
      oracle_user: 'ocid1.user.oc1..a',
      oracle_fingerprint: fingerprint,
    },
    { oracle_private_key: pem },
  ],
  ['workers-ai', { key: 'k', workersAiAccountId: 'acc' }, { workers_ai_account_id: 'acc' }, { api_key: 'k' }],
  [
    'openai',
    {
      key: 'k',
      openaiOrganization: 'org',
      openaiProject: 'proj',
      custom_host: 'https://llm.example.com/v1',
      custom_headers: { a: 'b' },
    },
    {
      openai_organization: 'org',
      openai_project: 'proj',
      custom_host: 'https://llm.example.com/v1',
      custom_headers: { a: 'b' },
    },
    { api_key: 'k' },
  ],
  [
    'hugging-face',
    { key: 'k', huggingfaceBaseUrl: 'https://hf.example.com' },
    { huggingface_base_url: 'https://hf.example.com' },
    { api_key: 'k' },
  ],
];

describe.each(ruleDatabases)('provider credentials sent in place, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const rowOf = async (slug: string) => {
    const { integration_id: name } = (await plane.ask('GET', `/providers/${slug}`)).body;
    return plane.control.services.database.em().findOneOrFail(integrations, { slug: name });
  };
  const kept = async (slug: string) => {
    const row = await rowOf(slug);
    const { database: orm, vault } = plane.control.services;
    return { settings: shownSettingsOf(row), secrets: await openSecrets(orm.em(), vault, row) };
  };

  it.each(cases.map((one, index) => [...one, index] as const))(
    'for %s become settings and secrets of the workspace’s own integration',
    async (provider, sent, settings, secrets, index) => {
      for (const path of ['/providers', '/virtual-keys']) {
        const slug = `inline-${index}-${path.slice(1)}`;
        const made = await plane.ask('POST', path, { body: { name: slug, slug, provider, ...sent } });
        expect(made.status, JSON.stringify(made.body)).toBe(200);
        expect(await kept(slug)).toEqual({ settings, secrets });
        const again = await plane.ask('PUT', `${path}/${slug}`, { body: sent });
        expect(again.status, JSON.stringify(again.body)).toBe(200);
        expect(await kept(slug)).toEqual({ settings, secrets });
      }
    },
  );

  const keys = { awsAccessKeyId: 'AKIA', awsSecretAccessKey: 'secret' };
  const deployments = [{ apiVersion: 'v1', deploymentName: '' }];
  it.each([
    [{ provider: 'bedrock', ...keys }, 'awsRegion: required for bedrock'],
    [
      { provider: 'bedrock', aws_access_key_id: 'A', aws_region: 'us-east-1' },
      'awsSecretAccessKey: required with aws_auth_type accessKey',
    ],
    [{ provider: 'bedrock', ...keys, aws_region: 5 }, 'aws_region: expected string, received number'],
    [
      { provider: 'openai', customHost: 'http://10.0.0.1' },
      'customHost: must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
    ],
    [
      { provider: 'azure-openai', resourceName: 5, deploymentName: 'd', apiVersion: 'v' },
      'resourceName: expected string, received number',
    ],
    [{ provider: 'azure-openai', resourceName: 'r', apiVersion: 'v1' }, 'deploymentConfig: required for azure-openai'],
    [{ provider: 'azure-openai', resourceName: 'r', deploymentName: 'd' }, 'apiVersion: required'],
    [
      { provider: 'azure-openai', resourceName: 'r', deploymentConfig: deployments },
      'deploymentConfig[0].deploymentName: expected the name of a deployment',
    ],
    [{ provider: 'azure-openai', resourceName: 'r', deploymentConfig: [] }, 'deploymentConfig: at least one deployment'],
  ])('provider credentials: errors name fields as they were sent: %j', async (sent, message) => {
    const body = { name: 'x', key: 'k', ...sent };
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/virtual-keys', { body }), 400, 'AB01', true);
    expect(reply.body.data.errors).toContain(message);
  });

  it.each([
    ['bedrock', { ...keys, awsRegion: 'us-east-1' }, 'aws_auth_type', 'accessKey'],
    ['bedrock', { awsRoleArn: 'arn:aws:iam::123456789012:role/r', awsRegion: 'us-east-1' }, 'aws_auth_type', 'assumedRole'],
    ['bedrock', { key: 'k', awsRegion: 'us-east-1' }, 'aws_auth_type', 'apiKey'],
    ['vertex-ai', { vertexServiceAccountJson: account, vertexRegion: 'us-central1' }, 'vertex_auth_type', 'serviceAccount'],
    ['vertex-ai', { key: 'k', vertexProjectId: 'p', vertexRegion: 'us-central1' }, 'vertex_auth_type', 'basic'],
    ['azure-ai', { key: 'k', azureFoundryUrl: 'https://f.example.com' }, 'azure_auth_mode', 'default'],
  ])('provider credentials: %s needs no authentication mode if fields imply it: %j', async (provider, sent, setting, mode) => {
    const made = await plane.ask('POST', '/virtual-keys', { body: { name: 'usual', provider, ...sent } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const read = await plane.ask('GET', `/virtual-keys/${made.body.data.slug}`);
    expect(read.body.model_config[setting]).toBe(mode);
  });

  it('keep the authentication mode when a change of deployments omits it', async () => {
    const entra = { azureAuthMode: 'managed', resourceName: 'r', deploymentName: 'd', apiVersion: 'v1' };
    const made = await plane.ask('POST', '/virtual-keys', { body: { name: 'kept', provider: 'azure-openai', ...entra } });
    const at = `/virtual-keys/${made.body.data?.slug}`;
    const body = { deploymentConfig: [{ deploymentName: 'e', apiVersion: 'latest' }] };
    expect((await plane.ask('PUT', at, { body })).status).toBe(200);
    expect((await plane.ask('GET', at)).body.model_config).toMatchObject({ azure_auth_mode: 'managed' });
  });

  it('are rejected with a malformed API version or model id', async () => {
    const azure = { name: 'a', provider: 'azure-openai', key: 'k', resourceName: 'r', deploymentName: 'd' };
    const long = { ...azure, apiVersion: 'v'.repeat(31) };
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/virtual-keys', { body: long }), 400, 'AB01', true);
    expect(reply.body.data.message).toBe('apiVersion: expected v1, preview, or a date such as 2024-10-21');
    const model = { aiModelId: '00000000-0000-4000-8000-000000000000' };
    const put = await expectRefusal(
      plane,
      () => plane.ask('PUT', '/providers/inline-0-providers', { body: model }),
      400,
      'AB01',
      true,
    );
    expect(put.body.data.message).toMatch(/^aiModelId: /);
    expect((await plane.ask('PUT', '/providers/inline-0-providers', { body: { aiModelId: null } })).status).toBe(200);
  });

  it('accept one rate limit without a list, and "" for no period', async () => {
    const limit = { type: 'requests', unit: 'rpm', value: 5 };
    const usage_limits = { type: 'cost', credit_limit: 5, periodic_reset: '' };
    const body = { name: 'One', slug: 'one-limit', provider: 'openai', key: 'k', rate_limits: limit, usage_limits };
    expect((await plane.ask('POST', '/virtual-keys', { body })).status).toBe(200);
    const read = (await plane.ask('GET', '/virtual-keys/one-limit')).body;
    expect([read.rate_limits, read.usage_limits.periodic_reset]).toEqual([[limit], null]);
  });

  describe('copied from another virtual key', () => {
    const source = {
      name: 'Source',
      slug: 'source',
      provider: 'openai',
      key: 'sk-planted-0123456789',
      openaiProject: 'proj',
      custom_host: 'https://llm.example.com/v1',
    };
    let id: string;
    beforeAll(async () => {
      expect((await plane.ask('POST', '/virtual-keys', { body: source })).status).toBe(200);
      id = (await plane.ask('GET', '/virtual-keys/source')).body.id;
    });
    const make = (slug: string, more: Record<string, unknown> = {}, key = plane.adminKey) =>
      plane.ask('POST', '/virtual-keys', { key, body: { name: slug, slug, source_provider_api_key_id: id, ...more } });
    const trace = (slug: string, action: string) => ({
      resource: 'virtual_keys',
      action,
      events: [`provider ${plane.workspaceId}/${slug} upsert`],
    });

    it('are sealed anew, and survive the deletion of the source', async () => {
      await expectChange(plane, () => make('copy', { openaiProject: 'other' }), trace('copy', 'create'));
      const [one, two] = [await rowOf('source'), await rowOf('copy')];
      expect(two.id).not.toBe(one.id);
      expect(two.secrets).not.toBe(one.secrets);
      expect(await kept('copy')).toEqual({
        settings: { custom_host: source.custom_host, openai_project: 'other' },
        secrets: { api_key: source.key },
      });
      const audit = await plane.lastAudit();
      expect(JSON.stringify(audit)).not.toContain('planted');
    });

    it('replace those of a key', async () => {
      const own = { name: 'Own', slug: 'own', provider: 'openai', key: 'sk-own-0123456789abc', openaiOrganization: 'org' };
      expect((await plane.ask('POST', '/providers', { body: own })).status).toBe(200);
      const put = () => plane.ask('PUT', '/virtual-keys/own', { body: { source_provider_api_key_id: id } });
      await expectChange(plane, put, trace('own', 'update'));
      expect(await kept('own')).toEqual(await kept('source'));
      expect((await plane.ask('GET', '/virtual-keys/own')).body.masked_api_key).toBe('****6789');
    });

    const refused: [string, Record<string, unknown>, string][] = [
      ['another host, which would get them', { custom_host: 'https://evil.example.com' }, 'custom_host: a new host'],
      ['another type of provider', { provider: 'anthropic' }, 'source_provider_api_key_id: has another provider type (openai)'],
      ['a key beside them', { key: 'sk-2' }, 'key: not together with source_provider_api_key_id'],
      ['an integration beside them', { integration_id: 'mock' }, 'key: credentials belong to the integration'],
      ['a slug in place of the id', { source_provider_api_key_id: 'source' }, 'source_provider_api_key_id: a UUID is expected'],
    ];
    it.each(refused)('reject %s', async (_, more, message) => {
      const reply = await expectRefusal(plane, () => make('refused', more), 400, 'AB01', true);
      expect(reply.body.data.message).toContain(message);
    });

    it('need the copy scope, and a key of the workspace or organisation of the source', async () => {
      const may = await plane.newKey(['virtual_keys.create', 'virtual_keys.copy']);
      expect((await make('by-key', {}, may)).status).toBe(200);
      const mayNot = await plane.newKey(['virtual_keys.create']);
      await expectRefusal(plane, () => make('by-other', {}, mayNot), 403, 'AB03', true);

      const workspace = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body.id;
      const scopes = ['virtual_keys.create', 'virtual_keys.copy'];
      const second = await plane.ask('POST', '/api-keys/workspace/service', {
        body: { name: 'k', scopes, workspace_id: workspace },
      });
      await expectRefusal(plane, () => make('elsewhere', {}, second.body.key), 404, 'AB02', true);
      expect((await make('elsewhere', { workspace_id: workspace })).status).toBe(200);

      const other = await plane.newTenant();
      const steal = { workspace_id: other.workspaceId };
      expect((await make('stolen', steal, other.adminKey)).body.data.errorCode).toBe('AB02');
    });

    it('cannot come from the organisation, which shares its integrations', async () => {
      const body = { name: 'Org', slug: 'org', ai_provider_id: 'openai', key: 'sk-org-0123456789abc' };
      await plane.ask('POST', '/integrations', { body });
      const { workspaceId: workspace_id } = plane;
      const on = await plane.ask('POST', '/providers', {
        body: { name: 'On', slug: 'on-org', integration_id: 'org', workspace_id },
      });
      const request = () => make('of-org', { source_provider_api_key_id: on.body.id, workspace_id });
      const reply = await expectRefusal(plane, request, 400, 'AB01', true);
      expect(reply.body.data.message).toContain('integration_id org');
    });
  });
});
