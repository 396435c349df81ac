import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { secretReferences } from '../../../../admin/resources/secret-references/entity.ts';
import { openAuth } from '../../../../admin/resources/secret-references/secrets.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { vaultReference } from './probes.ts';

const vault = vaultReference.auth_config;

describe.each(ruleDatabases)('accepted secret references, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { TRUSTED_CUSTOM_HOSTS: '10.0.0.1' });
  });
  afterAll(() => plane?.close());

  const create = (body: unknown) => plane.ask('POST', '/secret-references', { body });
  const read = async (slug: string) => (await plane.ask('GET', `/secret-references/${slug}`)).body;
  const put = (slug: string, body: unknown) => plane.ask('PUT', `/secret-references/${slug}`, { body });
  const rowOf = (slug: string) => plane.control.services.database.em().findOneOrFail(secretReferences, { slug });
  /** Returns the sealed values in the row, by name. */
  const sealedIn = async (slug: string) =>
    openAuth(plane.control.services.database.em(), plane.control.services.vault, await rowOf(slug));
  const trace = (action: string) => ({ resource: 'secret_references', action, events: [] });

  it('are stored, and read by slug and by id with a masked token', async () => {
    const body = { ...vaultReference, slug: 'vault', description: 'd', secret_key: 'api_key', tags: { team: 'a' } };
    const reply = await expectChange(plane, () => create(body), trace('create'));
    expect(reply.body).toEqual({ id: expect.any(String), slug: 'vault', object: 'secret-reference' });
    const wanted = {
      id: reply.body.id,
      organisation_id: plane.organisationId,
      name: 'Vault',
      slug: 'vault',
      description: 'd',
      manager_type: 'hashicorp_vault',
      secret_path: 'secret/data/openai',
      secret_key: 'api_key',
      allow_all_workspaces: true,
      allowed_workspaces: [],
      tags: { team: 'a' },
      status: 'ACTIVE',
      created_by: expect.any(String),
      created_at: expect.any(String),
      last_updated_at: expect.any(String),
      auth_config: { ...vault, vault_token: '****cdef' },
      object: 'secret-reference',
    };
    expect(await read('vault')).toEqual(wanted);
    expect(await read(reply.body.id)).toEqual(wanted);
  });

  it('have no plain credential in the row, a reply, the audit log or a log', async () => {
    const audits = await plane.ask('GET', '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z');
    const list = await plane.ask('GET', '/secret-references');
    for (const seen of [await rowOf('vault'), await read('vault'), list.body, audits.body, plane.log.lines]) {
      expect(JSON.stringify(seen)).not.toContain('planted');
    }
    const told = JSON.parse(audits.body.records[0].request_body);
    expect(told).toMatchObject({ secret_path: 'secret/data/openai', auth_config: { ...vault, vault_token: '***' } });
    expect(await sealedIn('vault')).toEqual({ vault_token: vault.vault_token });
  });

  it.each([
    ['aws_sm', { aws_auth_type: 'accessKey', aws_access_key_id: 'AKIA', aws_secret_access_key: 's', aws_region: 'eu-central-1' }],
    ['aws_sm', { aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/r', aws_region: 'us-east-1' }],
    ['aws_sm', { aws_auth_type: 'assumedRole', aws_role_arn: 'arn', aws_external_id: 'e', aws_region: 'us-east-1' }],
    ['aws_sm', { aws_auth_type: 'serviceRole' }],
    [
      'azure_kv',
      {
        azure_auth_mode: 'entra',
        azure_entra_tenant_id: 't',
        azure_entra_client_id: 'c',
        azure_entra_client_secret: 's',
        azure_vault_url: 'https://v.vault.azure.net',
      },
    ],
    ['azure_kv', { azure_auth_mode: 'managed', azure_managed_client_id: 'c', azure_vault_url: 'https://v.vault.azure.net' }],
    ['azure_kv', { azure_auth_mode: 'default', azure_vault_url: 'https://v.vault.azure.net/' }],
    ['hashicorp_vault', { ...vault, vault_namespace: 'team/a', vault_addr: 'http://10.0.0.1:8200' }],
    [
      'hashicorp_vault',
      { vault_auth_type: 'approle', vault_addr: 'https://v.example', vault_role_id: 'r', vault_secret_id: 's' },
    ],
    ['hashicorp_vault', { vault_auth_type: 'kubernetes', vault_addr: 'https://v.example', vault_role: 'r' }],
    [
      'hashicorp_vault',
      { vault_auth_type: 'kubernetes', vault_addr: 'https://v.example', vault_role: 'r', vault_mount: 'kubernetes/cluster-1' },
    ],
  ])('secret references: %s accepts the authentication mode %j', async (manager_type, auth_config) => {
    const reply = await create({ name: 'Way', manager_type, auth_config, secret_path: 'arn:aws:secretsmanager:eu:1:secret:a/b' });
    expect([reply.status, reply.body]).toMatchObject([200, { slug: expect.stringMatching(/^way-/) }]);
    const shown = (await read(reply.body.slug)).auth_config;
    const secret = /secret|token|access_key/;
    const hidden = Object.entries(auth_config).map(([name, value]) => [
      name,
      secret.test(name) ? expect.stringMatching(/^\*{4}/) : value,
    ]);
    expect(shown).toEqual(Object.fromEntries(hidden));
    const sealed = Object.entries(auth_config).filter(([name]) => secret.test(name));
    expect(await sealedIn(reply.body.slug)).toEqual(Object.fromEntries(sealed));
  });

  it('keep omitted fields in a change, merge auth_config, and treat masked values as unchanged', async () => {
    await expectChange(plane, () => put('vault', { auth_config: { vault_namespace: 'team' } }), trace('update'));
    const now = await read('vault');
    expect(now).toMatchObject({
      description: 'd',
      secret_key: 'api_key',
      tags: { team: 'a' },
      auth_config: { ...vault, vault_token: '****cdef', vault_namespace: 'team' },
    });
    await expectChange(plane, () => put('vault', { auth_config: now.auth_config }), trace('update'));
    expect(await sealedIn('vault')).toEqual({ vault_token: vault.vault_token });
    await expectChange(
      plane,
      () => put('vault', { auth_config: { vault_namespace: null, vault_token: 'hvs.new' } }),
      trace('update'),
    );
    expect((await read('vault')).auth_config).toEqual({ ...vault, vault_token: '****' });
    expect(await sealedIn('vault')).toEqual({ vault_token: 'hvs.new' });
  });

  it('accept their own reply, for fields that can change', async () => {
    const { name, slug, manager_type, description, auth_config, secret_path, secret_key, allow_all_workspaces, tags } =
      await read('vault');
    const body = { name, slug, manager_type, description, auth_config, secret_path, secret_key, allow_all_workspaces, tags };
    const before = await sealedIn('vault');
    expect((await put('vault', body)).status).toBe(200);
    expect(await read('vault')).toMatchObject(body);
    expect(await sealedIn('vault')).toEqual(before);
  });

  it('clear fields with null', async () => {
    await put('vault', { description: null, secret_key: null, tags: null });
    expect(await read('vault')).toMatchObject({ description: null, secret_key: null, tags: {} });
  });

  it('need new secrets for another host or authentication mode, and delete the old ones', async () => {
    const moved = { vault_addr: 'https://elsewhere.example', vault_token: 'hvs.of-there' };
    expect((await put('vault', { auth_config: moved })).status).toBe(200);
    expect(await sealedIn('vault')).toEqual({ vault_token: 'hvs.of-there' });
    const approle = { vault_auth_type: 'approle', vault_role_id: 'r', vault_secret_id: 's' };
    expect((await put('vault', { auth_config: approle })).status).toBe(200);
    expect((await read('vault')).auth_config).toEqual({
      ...approle,
      vault_addr: 'https://elsewhere.example',
      vault_secret_id: '****',
    });
    expect(await sealedIn('vault')).toEqual({ vault_secret_id: 's' });
    const kubernetes = { vault_auth_type: 'kubernetes', vault_role: 'r' };
    expect((await put('vault', { auth_config: kubernetes })).status).toBe(200);
    expect((await rowOf('vault')).secrets).toBeNull();
  });

  it('can be limited to some workspaces, by id or slug, and reopened to all', async () => {
    const second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id;
    const access = async () => {
      const { allow_all_workspaces, allowed_workspaces } = await read('vault');
      return [allow_all_workspaces, allowed_workspaces];
    };
    await put('vault', { allowed_workspaces: ['second', plane.workspaceId, second] });
    expect(await access()).toEqual([false, [second, plane.workspaceId]]);
    expect((await put('vault', { allow_all_workspaces: false })).status).toBe(200);
    expect(await access()).toEqual([false, [second, plane.workspaceId]]);
    const remove = { body: { name: 'Second' } };
    expect((await plane.ask('DELETE', `/admin/workspaces/${second}`, remove)).status).toBe(200);
    expect(await access()).toEqual([false, [plane.workspaceId]]);
    await put('vault', { allow_all_workspaces: true });
    expect(await access()).toEqual([true, []]);
  });

  it('are listed by manager, tags and part of a name or slug, 20 per page, newest first', async () => {
    const slugs = async (query: string) => {
      const { body } = await plane.ask('GET', `/secret-references${query}`);
      return body.data.map((one: { slug: string }) => one.slug);
    };
    const all = await plane.ask('GET', '/secret-references');
    expect(Object.keys(all.body.data[0]).sort()).toEqual(
      ['created_at', 'id', 'last_updated_at', 'manager_type', 'name', 'object', 'slug', 'status'].sort(),
    );
    for (let n = 0; n < 22; n++)
      await create({ ...vaultReference, name: `Many_${n}`, slug: `many-${n}`, tags: { n: `${n}`, of: 'many' } });
    expect(await slugs('?search=many')).toHaveLength(20);
    expect(await slugs('?search=many&current_page=1')).toEqual(['many-1', 'many-0']);
    expect((await plane.ask('GET', '/secret-references?search=many&page_size=3')).body).toMatchObject({
      object: 'list',
      total: 22,
    });
    expect(await slugs('?search=MANY_21')).toEqual(['many-21']);
    expect(await slugs('?search=any%25')).toEqual([]);
    expect(await slugs(`?tags=${encodeURIComponent('{"n":"7","of":"many"}')}`)).toEqual(['many-7']);
    expect(await slugs('?manager_type=azure_kv&search=way')).toHaveLength(3);
    expect(await slugs('?search=vault&manager_type=aws_sm')).toEqual([]);
  });

  it('are created once under an idempotency key, and changed only with the current version', async () => {
    const ask = { body: { ...vaultReference, slug: 'once' }, headers: { 'idempotency-key': 'k-1' } };
    const [first, again] = [
      await plane.ask('POST', '/secret-references', ask),
      await plane.ask('POST', '/secret-references', ask),
    ];
    expect(again.body).toEqual(first.body);
    const at = '/secret-references/once';
    const { headers } = await plane.ask('GET', at);
    const stale = { headers: { 'if-match': headers.get('etag') ?? '' } };
    const changed = await plane.ask('PUT', at, { ...stale, body: { name: 'A' } });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, (await plane.ask('GET', at)).headers.get('etag')]);
    await expectRefusal(plane, () => plane.ask('PUT', at, { ...stale, body: { name: 'B' } }), 412, 'AB12', true);
    await expectRefusal(plane, () => plane.ask('DELETE', at, stale), 412, 'AB12', true);
  });

  it('are gone after deletion, and their slug is free', async () => {
    const reply = await expectChange(plane, () => plane.ask('DELETE', '/secret-references/once'), trace('delete'));
    expect(reply.body).toEqual({});
    await expectRefusal(plane, () => plane.ask('GET', '/secret-references/once'), 404, 'AB08', false);
    expect((await create({ ...vaultReference, slug: 'once' })).status).toBe(200);
  });
});
