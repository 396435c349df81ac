import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

const schema = { type: 'object', additionalProperties: true, properties: {} };

const settings: readonly [string, unknown, string][] = [
  ['a period of 0 days', { user_api_key_rotation_period: 0 }, 'settings.user_api_key_rotation_period'],
  ['a period of 366 days', { user_api_key_rotation_period: 366 }, 'settings.user_api_key_rotation_period'],
  ['an unknown period', { user_api_key_rotation_period: 'daily' }, 'settings.user_api_key_rotation_period'],
  ['half a day', { user_api_key_rotation_period: 1.5 }, 'settings.user_api_key_rotation_period'],
  [
    'a scope of admin keys',
    { user_api_key_auto_create_scopes: ['audit_logs.list'] },
    'settings.user_api_key_auto_create_scopes[0]',
  ],
  ['a debug log of 2', { debug_log: 2 }, 'settings.debug_log'],
  ['error bodies of 2', { debug_log_error_body: 2 }, 'settings.debug_log_error_body'],
  ['an enforced debug log of 2', { enforce_debug_log_setting: 2 }, 'settings.enforce_debug_log_setting'],
  ['a similarity above 1', { cache_similarity_threshold: 1.1 }, 'settings.cache_similarity_threshold'],
  ['a cache time above the ceiling', { cache_ttl: 25_923_001 }, 'settings.cache_ttl'],
  ['no keys at all', { user_api_key_count: 0 }, 'settings.user_api_key_count'],
  ['a setting of workspaces', { user_key_metadata: 1 }, 'settings.user_key_metadata'],
  [
    'a schema that closes metadata',
    { workspace_metadata_schema: { ...schema, additionalProperties: false } },
    'additionalProperties',
  ],
  ['a schema of numbers', { api_key_metadata_schema: { ...schema, properties: { n: { type: 'number' } } } }, 'properties.n.type'],
  ['a schema of a list', { api_key_metadata_schema: { ...schema, type: 'array' } }, 'api_key_metadata_schema.type'],
  ['a keyword beyond the subset', { api_key_metadata_schema: { ...schema, $ref: '#' } }, '$ref'],
  [
    'a pattern that looks back',
    { api_key_metadata_schema: { ...schema, properties: { a: { type: 'string', pattern: '(?<=x)y' } } } },
    'pattern',
  ],
];

describe.each(ruleDatabases)('invalid settings of the organisation, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  it.each(settings)('reject %s, naming the field', async (_what, value, path) => {
    const ask = () => plane.ask('PUT', '/organisations/self', { body: { settings: value } });
    const reply = await expectRefusal(plane, ask, 400, 'AB01', true);
    expect(reply.body.data.errors.join('\n')).toContain(path);
  });

  it.each([
    [{ name: '  ' }, 'name'],
    [{ security_settings: { membersViewEverything: true } }, 'membersViewEverything'],
    [{ security_settings: { membersViewLogs: 'yes' } }, 'membersViewLogs'],
    [{ override_settings: { api_keys: true } }, 'override_settings.api_keys'],
    [{ export_settings: { deniedFields: ['everything'] } }, 'deniedFields[0]'],
    [{ data_plane_security_settings: { block_inline_config: null } }, 'block_inline_config'],
  ])('include %j', async (body, path) => {
    const reply = await expectRefusal(plane, () => plane.ask('PUT', '/organisations/self', { body }), 400, 'AB01', true);
    expect(reply.body.data.errors.join('\n')).toContain(path);
  });

  it.each([
    [{ session_settings: { max_session_ttl: 899 } }, 'max_session_ttl'],
    [{ allowed_email_domains: [{ domain: 'not a domain' }] }, 'allowed_email_domains[0].domain'],
    [{ allowed_email_domains: [{ domain: 'a.com' }, { domain: 'A.com' }] }, 'allowed_email_domains'],
    [{ allowed_email_domains: [{ domain: 'b\u00fccher.de' }, { domain: 'xn--bcher-kva.de' }] }, 'allowed_email_domains'],
    [{ allowed_email_domains: [{ domain: 'a.com' }, { domain: 'b.a.com', allow_subdomains: true }] }, 'allowed_email_domains'],
  ])('include the e-mail domains %j', async (body, path) => {
    const ask = () => plane.ask('PUT', '/organisations/self/auth-settings', { body });
    const reply = await expectRefusal(plane, ask, 400, 'AB01', true);
    expect(reply.body.data.errors.join('\n')).toContain(path);
  });
});
