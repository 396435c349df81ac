import { expect, it } from 'vitest';
import { maskSecrets } from '../../../admin/audit/mask-secrets.ts';
import { everySecretName } from '../../../core/providers/declarations.ts';

const camelOf = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

it.each(everySecretName)('audit entries mask the declared credential %s in both spellings', (name) => {
  const sent = { configurations: { [name]: 'planted' }, [camelOf(name)]: 'planted' };
  expect(maskSecrets(sent)).toEqual({ configurations: { [name]: '***' }, [camelOf(name)]: '***' });
});

it('audit entries show settings that are not credentials', () => {
  expect(maskSecrets({ configurations: { aws_region: 'eu-central-1' } })).toEqual({
    configurations: { aws_region: 'eu-central-1' },
  });
});

it('audit entries show permissions, prices and settings of tokens, whose names sound like secrets', () => {
  const shown = {
    security_settings: { membersWriteApiKeys: true, managersViewApiKeys: false },
    workspace_api_key_details: { scopes: ['completions.write'], defaults: { metadata: { team: 'a' } } },
    oidc: { token_endpoint_auth_method: 'client_secret_post', id_token_signing_alg: 'RS256' },
    oauth_metadata: { token_endpoint: 'https://id.example/token' },
    pay_as_you_go: { request_token: { price: 0.1 }, response_token: { price: 2 } },
    multiplier: { request_token: 1.5 },
    filters: { api_key_ids: ['0b8e'], prompt_token_min: 5 },
  };
  expect(maskSecrets(shown)).toEqual(shown);
  expect(maskSecrets({ a_token: { price: 'planted' }, api_key: 5, secret: { price: 1, value: 'planted' } })).toEqual({
    a_token: '***',
    api_key: '***',
    secret: '***',
  });
  expect(maskSecrets({ token_endpoint: 'https://u:planted@id.example?token=planted' })).toEqual({
    token_endpoint: 'https://***@id.example?token=***',
  });
});

it.each([
  [{ op: 'replace', path: 'password', value: 'planted' }],
  [{ op: 'Add', Path: 'urn:ietf:params:scim:schemas:core:2.0:User:password', Value: 'planted' }],
  [{ op: 'add', path: 'Password', value: [{ value: 'planted' }] }],
  [{ op: 'add', path: '/credentials/0', value: { planted: 'planted' } }],
])('audit entries mask the value of an operation on a secret: %j', (operation) => {
  expect(JSON.stringify(maskSecrets({ Operations: [operation] }))).toMatch(/^\{"Operations":\[.*"value":"\*\*\*"/i);
  expect(JSON.stringify(maskSecrets({ Operations: [operation] }))).not.toContain('planted');
});

it('audit entries show the values of operations on other attributes', () => {
  const Operations = [
    { op: 'replace', path: 'emails[type eq "work"].value', value: 'ada@example.com' },
    { op: 'add', path: 'members', value: [{ value: '7f76453a-919d-4138-8190-4646281900aa' }] },
  ];
  expect(maskSecrets({ Operations })).toEqual({ Operations });
});

it('audit entries mask the private parameters of keys and key sets', () => {
  const pair = { kty: 'RSA', kid: 'a', n: 'public', e: 'AQAB', ...{ d: 'planted', p: 'planted', q: 'planted', dp: 'planted' } };
  const symmetric = { kty: 'oct', kid: 'b', k: 'planted' };
  expect(maskSecrets({ jwt: { jwks: { keys: [pair, symmetric] } } })).toEqual({
    jwt: {
      jwks: {
        keys: [
          { ...pair, d: '***', p: '***', q: '***', dp: '***' },
          { ...symmetric, k: '***' },
        ],
      },
    },
  });
  expect(maskSecrets({ jwks: JSON.stringify({ keys: [pair] }), d: 'kept' })).toEqual({ jwks: '***', d: 'kept' });
});

it('audit entries mask fields that hold credentials if they were sent in another form', () => {
  const sent = { configurations: 'planted', auth_config: ['planted'], model_config: '{"key":"planted"}', name: 'shown' };
  expect(maskSecrets(sent)).toEqual({ configurations: '***', auth_config: '***', model_config: '***', name: 'shown' });
});

it('audit entries mask arguments of tools with names of credentials, as stored bodies do', () => {
  const sent = {
    tools: [
      { tool: 'read', arguments: { passphrase: 'planted', sshPassphrase: 'planted', credential: 'planted', city: 'Bonn' } },
    ],
  };
  const shown = { passphrase: '***', sshPassphrase: '***', credential: '***', city: 'Bonn' };
  expect(maskSecrets(sent)).toEqual({ tools: [{ tool: 'read', arguments: shown }] });
});

it('audit entries show what a policy limits, and mask other keys', () => {
  const policy = { conditions: [{ key: 'api_key', value: '*' }], group_by: [{ key: 'metadata.team' }] };
  expect(maskSecrets(policy)).toEqual(policy);
  expect(maskSecrets({ key: 'planted', list: [{ key: ['api_key'] }] })).toEqual({ key: '***', list: [{ key: '***' }] });
});

it.each([
  ['http://user:planted@host.example/mcp', 'http://***@host.example/mcp'],
  ['https://planted@host.example', 'https://***@host.example'],
  ['https://host.example/a?team=b&api_key=planted&x=1#part', 'https://host.example/a?team=b&api_key=***&x=1#part'],
  ['https://host.example/a?key=planted', 'https://host.example/a?key=***'],
  ['https://host.example/a?X-Amz-Signature=planted&sig=planted', 'https://host.example/a?X-Amz-Signature=***&sig=***'],
  [
    'see https://a.example?token=planted and https://u:planted@b.example',
    'see https://a.example?token=*** and https://***@b.example',
  ],
])('audit entries mask credentials in the URL of %s', (url, shown) => {
  expect(maskSecrets({ url, list: [{ webhookURL: url }] })).toEqual({ url: shown, list: [{ webhookURL: shown }] });
});

it('audit entries show URLs without credentials, and addresses of people', () => {
  const shown = { url: 'https://host.example:8443/v1?page=2&team=a@b', email: 'a@host.example', note: 'why? a=b&key=c' };
  expect(maskSecrets(shown)).toEqual(shown);
});
