import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { vaultReference } from './probes.ts';

const vault = vaultReference.auth_config;
const aws = { name: 'A', manager_type: 'aws_sm', secret_path: 'prod/openai' };
const azure = { name: 'K', manager_type: 'azure_kv', secret_path: 'openai' };
const long = (length: number) => 'x'.repeat(length);

describe.each(ruleDatabases)('rejected secret references, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const create = (body: unknown) => () => plane.ask('POST', '/secret-references', { body });
  const withAuth = (auth: Record<string, unknown>) => ({ ...vaultReference, auth_config: { ...vault, ...auth } });

  const refused: [string, unknown, string][] = [
    ['no name', { ...vaultReference, name: undefined }, 'name: required'],
    ['a name that is too long', { ...vaultReference, name: long(256) }, 'name: at most 255 characters'],
    ['no manager', { ...vaultReference, manager_type: undefined }, 'manager_type: required'],
    ['an unknown manager', { ...vaultReference, manager_type: 'gcp_sm' }, 'manager_type: one of aws_sm, azure_kv'],
    ['a slug with a dot', { ...vaultReference, slug: 'a.b' }, 'slug: letters, digits'],
    ['no path', { ...vaultReference, secret_path: undefined }, 'secret_path: required'],
    ['an empty path', { ...vaultReference, secret_path: '' }, 'secret_path: must not be empty'],
    ['a path that is too long', { ...vaultReference, secret_path: long(1_025) }, 'secret_path: at most 1,024 characters'],
    ['a path out of the store', { ...vaultReference, secret_path: 'secret/../sys/raw' }, 'secret_path: must not hold . or ..'],
    ['a path with a query', { ...vaultReference, secret_path: 'a?version=1' }, 'secret_path: must not hold control'],
    ['a key of a secret that is too long', { ...vaultReference, secret_key: long(256) }, 'secret_key: at most 255'],
    ['a description that is too long', { ...vaultReference, description: long(1_025) }, 'description: at most 1,024'],
    ['tags that are no texts', { ...vaultReference, tags: { a: 1 } }, 'tags.a: expected string'],
    ['an unknown field', { ...vaultReference, status: 'ACTIVE' }, 'status: unknown key'],
    ['no workspace at all', { ...vaultReference, allowed_workspaces: [] }, 'allowed_workspaces: at least one workspace'],
    [
      'all workspaces and some',
      { ...vaultReference, allow_all_workspaces: true, allowed_workspaces: ['ws-default'] },
      'allowed_workspaces: not together with allow_all_workspaces',
    ],
    [
      'neither all workspaces nor some',
      { ...vaultReference, allow_all_workspaces: false },
      'allowed_workspaces: required if allow_all_workspaces is false',
    ],
    ['no way to authenticate', { ...vaultReference, auth_config: {} }, 'auth_config.vault_auth_type: required for'],
    ['no auth_config', { ...vaultReference, auth_config: undefined }, 'auth_config: required'],
    ['an unknown way', withAuth({ vault_auth_type: 'ldap' }), 'auth_config.vault_auth_type: one of token, approle, kubernetes'],
    ['the way of an object', withAuth({ vault_auth_type: 'constructor' }), 'auth_config.vault_auth_type: one of token'],
    ['a missing token', withAuth({ vault_token: undefined }), 'auth_config.vault_token: required'],
    ['a masked token that nobody has stored', withAuth({ vault_token: '****cdef' }), 'auth_config.vault_token: required'],
    ['a token of two lines', withAuth({ vault_token: 'planted\nx' }), 'auth_config.vault_token: visible ASCII'],
    ['a setting of another way', withAuth({ vault_role: 'r' }), 'auth_config.vault_role: unknown key'],
    ['a setting of another manager', withAuth({ aws_region: 'r' }), 'auth_config.aws_region: unknown key'],
    [
      'a path of a method that leads elsewhere',
      withAuth({ vault_token: undefined, vault_auth_type: 'kubernetes', vault_role: 'r', vault_mount: '../sys' }),
      'auth_config.vault_mount: the path of an authentication method',
    ],
    ['an address that is none', withAuth({ vault_addr: 'vault' }), 'auth_config.vault_addr: must begin with http'],
    [
      'a private address',
      withAuth({ vault_addr: 'http://10.1.2.3:8200' }),
      'auth_config.vault_addr: must be a public address. The operator can allow a private one in TRUSTED_CUSTOM_HOSTS',
    ],
    ['a metadata service', withAuth({ vault_addr: 'http://169.254.169.254' }), 'auth_config.vault_addr: must not be a metadata'],
    [
      'an address with a user',
      withAuth({ vault_addr: 'https://u:p@v.example' }),
      'auth_config.vault_addr: must not contain a user',
    ],
    [
      'an address with a query',
      withAuth({ vault_addr: 'https://v.example/?a=b' }),
      'auth_config.vault_addr: must not have a query',
    ],
    [
      'an address with a fragment',
      withAuth({ vault_addr: 'https://v.example/#a' }),
      'auth_config.vault_addr: must not have a frag',
    ],
    [
      'a private vault',
      { ...azure, auth_config: { azure_auth_mode: 'default', azure_vault_url: 'https://10.0.0.1' } },
      'auth_config.azure_vault_url: must be',
    ],
    [
      'Entra without its secret',
      { ...azure, auth_config: { azure_auth_mode: 'entra' } },
      'auth_config.azure_entra_tenant_id: required',
    ],
    [
      'access keys without a region',
      { ...aws, auth_config: { aws_auth_type: 'accessKey' } },
      'auth_config.aws_access_key_id: required',
    ],
    [
      'a role without its name',
      { ...aws, auth_config: { aws_auth_type: 'assumedRole', aws_region: 'r' } },
      'auth_config.aws_role_arn: required',
    ],
    ['no word of the way', { ...aws, auth_config: { aws_region: 'r' } }, 'auth_config.aws_auth_type: required for aws_sm'],
    [
      'a region that is a host',
      { ...aws, auth_config: { aws_auth_type: 'serviceRole', aws_region: 'evil.example/' } },
      'auth_config.aws_region: the name of a region',
    ],
  ];
  it.each(refused)('have an error that names the field: %s', async (_, body, start) => {
    const reply = await expectRefusal(plane, create(body), 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
    expect(JSON.stringify(reply.body)).not.toContain('planted');
  });

  it('have an error for every issue of auth_config at once', async () => {
    const body = { ...azure, auth_config: { azure_auth_mode: 'entra', colour: 1 } };
    const { errors } = (await expectRefusal(plane, create(body), 400, 'AB01', true)).body.data;
    expect(errors.map((one: string) => one.split(':')[0]).sort()).toEqual([
      'auth_config.azure_entra_client_id',
      'auth_config.azure_entra_client_secret',
      'auth_config.azure_entra_tenant_id',
      'auth_config.azure_vault_url',
      'auth_config.colour',
    ]);
  });

  it('include a slug that is taken: 409', async () => {
    expect((await create({ ...vaultReference, slug: 'taken' })()).status).toBe(200);
    await expectRefusal(plane, create({ ...vaultReference, slug: 'taken' }), 409, 'AB07', true);
  });

  it('get the same error for unknown and foreign workspaces', async () => {
    const other = await plane.newTenant();
    for (const id of [other.workspaceId, '00000000-0000-4000-8000-000000000000', 'no-such-workspace']) {
      const body = { ...vaultReference, allowed_workspaces: ['ws-default', id] };
      const reply = await expectRefusal(plane, create(body), 404, 'AB02', true);
      expect(reply.body.data.message).toBe('allowed_workspaces[1]: Workspace not found');
    }
  });

  const changes: [string, unknown, string][] = [
    ['another slug', { slug: 'other' }, 'slug: cannot be changed'],
    ['another manager', { manager_type: 'aws_sm' }, 'manager_type: cannot be changed'],
    ['no workspace', { allowed_workspaces: [] }, 'allowed_workspaces: at least one workspace'],
    ['nobody', { allow_all_workspaces: false }, 'allowed_workspaces: required if'],
    [
      'a token that is taken away',
      { auth_config: { vault_token: null } },
      'auth_config.vault_token: expected string, received null',
    ],
    [
      'another way without its secrets',
      { auth_config: { vault_auth_type: 'approle', vault_role_id: 'r' } },
      'auth_config.vault_secret_id: required',
    ],
    [
      'another host for the stored token',
      { auth_config: { vault_addr: 'https://elsewhere.example.com' } },
      'auth_config.vault_addr: a new host requires the credential again. Send it in auth_config.vault_token',
    ],
    [
      'another port for the stored token',
      { auth_config: { vault_addr: 'https://vault.example.com:8200' } },
      'auth_config.vault_addr: a new host requires the credential again',
    ],
    [
      'another host and the mask of the stored token',
      { auth_config: { ...vault, vault_addr: 'https://elsewhere.example.com', vault_token: '****cdef' } },
      'auth_config.vault_addr: a new host requires the credential again',
    ],
  ];
  it.each(changes)('cannot be changed to %s', async (what, body, start) => {
    const slug = `of-${what.replace(/\W+/g, '-')}`;
    await create({ ...vaultReference, slug })();
    const put = () => plane.ask('PUT', `/secret-references/${slug}`, { body });
    const reply = await expectRefusal(plane, put, 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
    expect((await plane.ask('GET', `/secret-references/${slug}`)).body.auth_config).toEqual({
      ...vault,
      vault_token: '****cdef',
    });
  });

  it('leave no malformed fields in the audit log', async () => {
    const text = JSON.stringify(vault);
    const list = Object.entries(vault).map(([name, value]) => ({ name, value }));
    for (const auth_config of [text, list, [[text]]]) {
      await expectRefusal(plane, create({ ...vaultReference, auth_config }), 400, 'AB01', true);
      const { requestBody } = await plane.lastAudit();
      expect(requestBody).toMatchObject({ name: '***', auth_config: '***' });
      const integration = { name: 'I', ai_provider_id: 'openai', configurations: auth_config };
      await expectRefusal(plane, () => plane.ask('POST', '/integrations', { body: integration }), 400, 'AB01', true);
      expect(await plane.lastAudit()).toMatchObject({ requestBody: { configurations: '***' } });
    }
  });

  it('include an empty query filter', async () => {
    for (const query of ['search=', 'page_size=101', 'manager_type=x', 'tags=x', `search=${long(256)}`]) {
      await expectRefusal(plane, () => plane.ask('GET', `/secret-references?${query}`), 400, 'AB01', false);
    }
  });
});
