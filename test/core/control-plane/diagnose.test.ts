import { describe, expect, it } from 'vitest';
import type { ProviderSettings } from '../../../core/contract/provider/provider.ts';
import { GatewayError } from '../../../core/contract/values/errors/errors.ts';
import { callFields, errorChecks, failureText, statusChecks } from '../../../core/control-plane/diagnose.ts';
import { providers } from '../../../core/providers/index.ts';

const fieldsOf = (provider: string, settings: ProviderSettings = {}) => callFields(providers.get(provider) ?? null, settings);

describe('diagnosis of a provider’s status', () => {
  const cases: [string, Record<string, unknown>, number, string][] = [
    ['openai', {}, 401, 'key'],
    ['openai', {}, 403, 'key'],
    ['openai', { custom_host: 'https://h.example' }, 404, 'configurations.custom_host'],
    ['openai', { custom_host: 'https://h.example' }, 302, 'configurations.custom_host'],
    ['openai', {}, 500, 'ai_provider_id'],
    ['azure-openai', { azure_auth_mode: 'default' }, 404, 'configurations.azure_resource_name'],
    ['azure-openai', { azure_auth_mode: 'entra' }, 401, 'configurations.azure_entra_client_secret'],
    ['bedrock', { aws_auth_type: 'accessKey' }, 403, 'configurations.aws_secret_access_key'],
    ['bedrock', { aws_auth_type: 'apiKey' }, 403, 'key'],
    ['vertex-ai', { vertex_auth_type: 'serviceAccount' }, 401, 'configurations.vertex_service_account_json'],
    ['openai', { provider_auth_type: 'oauthClientCredentials' }, 401, 'configurations.oauth_client_secret'],
  ];
  it.each(cases)('%s %j %i', (provider, settings, status, field) => {
    const failed = statusChecks(fieldsOf(provider, settings), status, '').filter((one) => one.status === 'failed');
    expect(failed.map((one) => one.field)).toEqual([field]);
  });

  it('distinguishes a rejected key from a rejected call if both are 400', () => {
    expect(statusChecks(fieldsOf('google'), 400, 'API key not valid')[1]?.field).toBe('key');
    expect(statusChecks(fieldsOf('bedrock', { aws_auth_type: 'apiKey' }), 400, 'no such version')[1]?.field).toBe(
      'configurations.aws_region',
    );
  });

  it('treats an exhausted rate limit as an accepted key', () => {
    expect(statusChecks(fieldsOf('openai'), 429, '').every((one) => one.status === 'ok')).toBe(true);
  });
});

describe('diagnosis of a gateway error', () => {
  const cases: [ConstructorParameters<typeof GatewayError>, string, RegExp][] = [
    [['upstream_connect', { detail: 'ENOTFOUND: x' }], 'configurations.aws_region', /DNS/],
    [['upstream_connect', { detail: 'ECONNREFUSED: x' }], 'configurations.aws_region', /no server listens/],
    [['upstream_connect', { detail: 'ERR_TLS_CERT_ALTNAME_INVALID: x' }], 'configurations.aws_region', /host name \(TLS\)/],
    [['upstream_connect', { detail: 'CERT_HAS_EXPIRED: x' }], 'configurations.aws_region', /has expired/],
    [
      ['upstream_connect', { detail: 'SELF_SIGNED_CERT_IN_CHAIN: x' }],
      'configurations.aws_region',
      /not from a trusted authority/,
    ],
    [
      ['upstream_connect', { detail: 'DEPTH_ZERO_SELF_SIGNED_CERT: x' }],
      'configurations.aws_region',
      /not from a trusted authority/,
    ],
    [['request_timeout', {}], 'configurations.aws_region', /in time/],
    [['token_unavailable', { message: 'The token endpoint of the provider could not be reached' }], 'key', /token endpoint/],
    [['invalid_custom_host', {}], 'configurations.aws_region', /is not allowed/],
    [['invalid_provider', { message: 'no such' }], 'ai_provider_id', /no such/],
    [
      ['invalid_config', { message: 'Invalid settings for bedrock: aws_region: a region is expected', settings: ['aws_region'] }],
      'configurations.aws_region',
      /a region is expected/,
    ],
  ];
  it.each(cases)('%j', (args, field, words) => {
    const [check] = errorChecks(fieldsOf('bedrock'), new GatewayError(...args));
    expect(check).toMatchObject({ field, status: 'failed' });
    expect(check?.message).toMatch(words);
  });

  it('never contains texts of the runtime', () => {
    const [check] = errorChecks(
      fieldsOf('openai'),
      new GatewayError('upstream_connect', { detail: 'ECONNREFUSED: 10.0.0.5:22 secret' }),
    );
    expect(check?.message).not.toContain('10.0.0.5');
  });
});

it.each<[...ConstructorParameters<typeof GatewayError>, RegExp]>([
  [
    'invalid_custom_host',
    { detail: 'db.example.com resolves to 10.0.0.5: must be a public address' },
    /^the address is not allowed: /,
  ],
  ['invalid_custom_host', { message: 'Invalid custom host: must not use port 22' }, /must not use port 22/],
  ['upstream_connect', { detail: 'ECONNREFUSED: connect ECONNREFUSED 10.0.0.5:443' }, /^no server listens/],
  [
    'request_timeout',
    { message: 'Request exceeded the timeout sent in the request', waitedMs: 5_000 },
    /^no response within 5000 ms$/,
  ],
  ['internal', { detail: 'cannot read 10.0.0.5 of undefined' }, /./],
])('the reason of a failed call names no address that a host resolved to: %s %j', (code, extras, words) => {
  const text = failureText(new GatewayError(code, extras));
  expect(text).toMatch(words);
  expect(text).not.toContain('10.0.0.5');
});

it.each([
  ['azure-ai', {}, { host: 'configurations.azure_foundry_url', credential: 'key' }],
  ['azure-ai', { azure_auth_mode: 'workload' }, { credential: 'configurations.azure_workload_client_id' }],
  [
    'bedrock',
    { aws_auth_type: 'accessKey', provider_auth_type: 'oauthClientCredentials' },
    { credential: 'configurations.oauth_client_secret' },
  ],
  ['huggingface', {}, { host: 'configurations.huggingface_base_url' }],
  ['no-such-provider', {}, { host: 'ai_provider_id', credential: 'key' }],
])('call fields of %s with %j', (provider, settings, expected) => {
  expect(fieldsOf(provider, settings)).toMatchObject(expected);
});
