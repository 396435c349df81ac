import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('rejected integrations, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  let moved = 0;
  const base = { name: 'x', ai_provider_id: 'openai' };
  const cases: [string, unknown, string][] = [
    ['no provider type', { name: 'x' }, 'ai_provider_id: required'],
    ['an unknown provider type', { ...base, ai_provider_id: 'opnai' }, 'ai_provider_id: no provider type of this name'],
    ['an unknown setting', { ...base, configurations: { colour: 1 } }, 'configurations.colour: unknown key'],
    ['a setting of another provider', { ...base, configurations: { aws_region: 'x' } }, 'configurations.aws_region: unknown key'],
    [
      'a custom host that is no URL',
      { ...base, configurations: { custom_host: 'localhost' } },
      'configurations.custom_host: must begin with http',
    ],
    [
      'a private custom host',
      { ...base, configurations: { custom_host: 'http://10.1.2.3/v1' } },
      'configurations.custom_host: must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
    ],
    [
      'a metadata service as token endpoint',
      { ...base, configurations: { oauth_token_endpoint: 'http://169.254.169.254/token' } },
      'configurations.oauth_token_endpoint: must not be a metadata service',
    ],
    [
      'a custom host with a password',
      { ...base, configurations: { custom_host: 'http://u:p@h.example/' } },
      'configurations.custom_host: must not contain a user name or password',
    ],
    [
      'a custom header that the gateway sets itself',
      { ...base, configurations: { custom_headers: { Host: 'x' } } },
      'configurations.custom_headers.Host: this header is set by the gateway',
    ],
    [
      'a custom header that addresses a metadata service',
      { ...base, configurations: { custom_headers: { 'Metadata-Flavor': 'x' } } },
      'configurations.custom_headers.Metadata-Flavor: this header addresses a metadata service, a proxy or an internal router. Remove it',
    ],
    [
      'a custom header that splits the request',
      { ...base, configurations: { custom_headers: { 'x-a': 'a\r\nb: c' } } },
      'configurations.custom_headers.x-a: contains characters that are not allowed in a header',
    ],
    [
      'missing settings that the provider needs',
      { name: 'x', ai_provider_id: 'bedrock' },
      'configurations.aws_auth_type: required for bedrock',
    ],
    [
      'access keys without the secret one',
      {
        name: 'x',
        ai_provider_id: 'bedrock',
        configurations: { aws_auth_type: 'accessKey', aws_region: 'us-east-1', aws_access_key_id: 'A' },
      },
      'configurations.aws_secret_access_key: required with aws_auth_type accessKey',
    ],
    [
      'an API key of Bedrock that is missing',
      { name: 'x', ai_provider_id: 'bedrock', configurations: { aws_auth_type: 'apiKey', aws_region: 'us-east-1' } },
      'key: required with aws_auth_type apiKey',
    ],
    [
      'a bucket that would be a path',
      {
        name: 'x',
        ai_provider_id: 'bedrock',
        key: 'bk',
        configurations: { aws_auth_type: 'apiKey', aws_region: 'us-east-1', aws_s3_bucket: 'a/../b' },
      },
      'configurations.aws_s3_bucket: expected the name of a bucket',
    ],
    [
      'the key of one upload',
      { name: 'x', ai_provider_id: 'bedrock', key: 'bk', configurations: { aws_s3_object_key: 'k' } },
      'configurations.aws_s3_object_key: unknown key',
    ],
    [
      'a federated identity with a secret',
      {
        name: 'x',
        ai_provider_id: 'azure-ai',
        configurations: {
          azure_auth_mode: 'entraFederated',
          azure_foundry_url: 'https://f.example.com',
          azure_entra_tenant_id: 't',
          azure_entra_client_id: 'c',
          azure_entra_client_secret: 'planted',
        },
      },
      'configurations.azure_entra_client_secret: not used with azure_auth_mode entraFederated',
    ],
    [
      'two default deployments',
      {
        name: 'x',
        ai_provider_id: 'azure-openai',
        configurations: {
          azure_deployment_config: ['a', 'b'].map((name) => ({
            azure_deployment_name: name,
            azure_api_version: 'v1',
            azure_model_slug: 'gpt-4o',
            is_default: true,
          })),
        },
      },
      'configurations.azure_deployment_config: at most one deployment can be the default',
    ],
    [
      'client credentials that are not complete',
      { ...base, configurations: { provider_auth_type: 'oauthClientCredentials', oauth_client_id: 'c' } },
      'configurations.oauth_token_endpoint: required with provider_auth_type oauthClientCredentials',
    ],
    [
      'a multiplier of a unit that does not exist',
      { ...base, pricing_adjustments: { multiplier: { colour: 1 } } },
      'pricing_adjustments.multiplier.colour: unknown key',
    ],
    [
      'a negative multiplier',
      { ...base, pricing_adjustments: { multiplier: { default: -1 } } },
      'pricing_adjustments.multiplier.default: at least 0',
    ],
    ['a key of two lines', { ...base, key: 'sk-planted\nsecret' }, 'key: contains characters that are not allowed in a header'],
    ['a key with a dash', { ...base, key: 'sk-planted—secret' }, 'key: contains characters that are not allowed in a header'],
    [
      'a session token of two lines',
      { ...base, ai_provider_id: 'bedrock', configurations: { aws_session_token: 'planted\n' } },
      'configurations.aws_session_token: contains characters that are not allowed in a header',
    ],
  ];

  it.each(cases)('have an error that names the field: %s', async (_, body, start) => {
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/integrations', { body }), 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
    expect(JSON.stringify(reply.body)).not.toContain('planted');
  });

  it.each([
    ['/integrations', '/integrations', { configurations: { custom_host: 'https://elsewhere.example/v1' } }],
    ['/integrations', '/integrations', { key: '****cdef', configurations: { custom_host: 'https://elsewhere.example/v1' } }],
    ['/integrations', '/integrations', { configurations: { oauth_token_endpoint: 'https://elsewhere.example/token' } }],
    ['/virtual-keys', '/virtual-keys', { customHost: 'https://elsewhere.example/v1' }],
    ['/virtual-keys', '/providers', { customHost: 'https://elsewhere.example/v1' }],
  ])('keep a stored credential on its host: one of %s changed by %s', async (at, by, body) => {
    const slug = `moved-${++moved}`;
    const type = at === '/integrations' ? 'ai_provider_id' : 'provider';
    const sent = { name: slug, slug, [type]: 'openai', key: 'sk-planted-0123456789abcdef', workspace_id: plane.workspaceId };
    expect((await plane.ask('POST', at, { body: sent })).status).toBe(200);
    const put = (change: object) => plane.ask('PUT', `${by}/${slug}`, { body: change });
    const reply = await expectRefusal(plane, () => put(body), 400, 'AB01', true);
    expect(reply.body.data.message).toContain('a new host requires the credential again. Send it in key');
    expect((await put({ ...body, key: 'sk-of-the-other-host' })).status).toBe(200);
  });

  const azure = {
    azure_auth_mode: 'default',
    azure_deployment_config: [{ azure_deployment_name: 'dep', azure_api_version: '2024-10-21', azure_model_slug: 'dep' }],
  };
  it.each([
    ['azure-openai', { ...azure, azure_resource_name: 'ours' }, { azure_resource_name: 'theirs' }],
    ['cortex', { snowflake_account: 'ours' }, { snowflake_account: 'theirs.us-east-2.aws' }],
    ['databricks', { databricks_workspace: 'ours' }, { databricks_workspace: 'theirs' }],
    ['workers-ai', { workers_ai_account_id: 'ours' }, { workers_ai_account_id: 'theirs' }],
  ])('keep a stored credential in its account: %s', async (type, configurations, change) => {
    const slug = `account-${type}`;
    const sent = { name: slug, slug, ai_provider_id: type, key: 'sk-planted-0123456789abcdef', configurations };
    expect((await plane.ask('POST', '/integrations', { body: sent })).status).toBe(200);
    const put = (body: object) => plane.ask('PUT', `/integrations/${slug}`, { body });
    const reply = await expectRefusal(plane, () => put({ configurations: change }), 400, 'AB01', true);
    expect(reply.body.data.message).toContain('a new host requires the credential again. Send it in key');
    expect((await put({ configurations: { ...configurations } })).status).toBe(200);
    expect((await put({ configurations: change, key: 'sk-of-the-other-account' })).status).toBe(200);
  });

  it('include a slug that is taken: 409', async () => {
    await expectRefusal(plane, () => plane.ask('POST', '/integrations', { body: { ...base, slug: 'mock' } }), 409, 'AB07', true);
  });
});
