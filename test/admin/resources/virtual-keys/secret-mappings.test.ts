import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { vaultReference } from '../secret-references/probes.ts';

describe.each(ruleDatabases)('virtual keys with a mapped credential, on %s', (database) => {
  let plane: Plane;
  let vaultId: string;
  let second: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id;
    vaultId = (await plane.ask('POST', '/secret-references', { body: { ...vaultReference, slug: 'vault' } })).body.id;
    const limited = { ...vaultReference, slug: 'limited', allowed_workspaces: [plane.workspaceId] };
    await plane.ask('POST', '/secret-references', { body: limited });
  });
  afterAll(() => plane?.close());

  const key = { target_field: 'key', secret_reference_id: 'vault' };
  const asRead = (target_field: string, secret_key: string | null = null) => ({
    target_field,
    secret_reference_id: vaultId,
    secret_key,
    value_format: null,
  });
  const create = (body: object) =>
    plane.ask('POST', '/virtual-keys', { body: { name: 'V', provider: 'openai', workspace_id: plane.workspaceId, ...body } });
  const put = (slug: string, body: object) =>
    plane.ask('PUT', `/virtual-keys/${slug}`, { body: { workspace_id: plane.workspaceId, ...body } });
  const read = async (slug: string, under = 'virtual-keys') =>
    (await plane.ask('GET', `/${under}/${slug}?workspace_id=${plane.workspaceId}`)).body;

  it('can be created, read, changed and unmapped', async () => {
    const events = [`provider ${plane.workspaceId}/vk upsert`];
    const make = () => create({ slug: 'vk', secret_mappings: [key] });
    await expectChange(plane, make, { resource: 'virtual_keys', action: 'create', events });
    for (const under of ['virtual-keys', 'providers']) {
      expect(await read('vk', under)).toMatchObject({ masked_api_key: null, secret_mappings: [asRead('key')] });
      const list = (await plane.ask('GET', `/${under}?workspace_id=${plane.workspaceId}`)).body;
      expect(list.data.map((one: { secret_mappings: object[] }) => one.secret_mappings)).toEqual([[asRead('key')], []]);
    }
    const { integration_id: integration } = await read('vk');
    expect((await plane.ask('GET', `/integrations/${integration}`)).body.secret_mappings).toEqual([asRead('key')]);

    const project = { ...key, target_field: 'model_config.openai_project', secret_key: 'project' };
    const change = () => put('vk', { secret_mappings: [key, project] });
    await expectChange(plane, change, { resource: 'virtual_keys', action: 'update', events });
    const wanted = [asRead('key'), asRead('model_config.openai_project', 'project')];
    expect((await read('vk')).secret_mappings).toEqual(wanted);
    await put('vk', { note: 'n' });
    expect((await read('vk')).secret_mappings).toEqual(wanted);
    await put('vk', { key: 'sk-0123456789abcdef' });
    expect(await read('vk')).toMatchObject({ masked_api_key: '****cdef', secret_mappings: wanted.slice(1) });
    await put('vk', { secret_mappings: [] });
    expect((await read('vk')).secret_mappings).toEqual([]);
  });

  it('accept several concurrent changes in sequence', async () => {
    await create({ slug: 'raced', secret_mappings: [key] });
    const { integration_id: integration } = await read('raced');
    const at = `/integrations/${integration}`;
    const all = await Promise.all(
      [...'abcdef'].map((secret_key, index) => {
        const secret_mappings = [{ ...key, secret_key }];
        return index % 2 === 0 ? put('raced', { secret_mappings }) : plane.ask('PUT', at, { body: { secret_mappings } });
      }),
    );
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200));
    expect((await read('raced')).secret_mappings).toEqual([asRead('key', expect.stringMatching(/^[a-f]$/))]);
  });

  it('get their authentication mode from mapped fields as from sent ones', async () => {
    const mapped = ['aws_access_key_id', 'awsSecretAccessKey'].map((name) => ({
      targetField: `model_config.${name}`,
      secretReferenceId: 'vault',
      secretKey: name,
    }));
    const reply = await create({ slug: 'aws', provider: 'bedrock', awsRegion: 'eu-central-1', secretMappings: mapped });
    expect([reply.status, reply.body]).toMatchObject([200, { data: { slug: 'aws' } }]);
    expect(await read('aws')).toMatchObject({
      model_config: { aws_auth_type: 'accessKey', aws_region: 'eu-central-1' },
      secret_mappings: [
        asRead('model_config.aws_access_key_id', 'aws_access_key_id'),
        asRead('model_config.aws_secret_access_key', 'awsSecretAccessKey'),
      ],
    });
  });

  it('are rejected with targets of integrations, with both a value and a mapping, and on an existing integration', async () => {
    const cases: [object, string][] = [
      [
        { secret_mappings: [{ ...key, target_field: 'configurations.openai_project' }] },
        'secret_mappings[0].target_field: one of key, model_config.',
      ],
      [{ secret_mappings: [key], key: 'sk-x' }, 'secret_mappings[0].target_field: the field also has a value in this request'],
      [{ secret_mappings: [key], integration_id: 'mock', provider: undefined }, 'key: credentials belong to the integration'],
    ];
    for (const [body, start] of cases) {
      const reply = await expectRefusal(plane, () => create(body), 400, 'AB01', true);
      expect(reply.body.data.message.slice(0, start.length)).toBe(start);
    }
    const unknown = { secret_mappings: [{ ...key, secret_reference_id: 'nobody' }] };
    await expectRefusal(plane, () => create(unknown), 404, 'AB02', true);
  });

  it('do not show mappings of an integration of the organisation', async () => {
    const body = { name: 'Org', slug: 'org', ai_provider_id: 'openai', secret_mappings: [key] };
    await plane.ask('POST', '/integrations', { body });
    await plane.ask('PUT', '/integrations/org/workspaces', { body: { workspaces: [{ id: plane.workspaceId, enabled: true }] } });
    expect((await read('org')).secret_mappings).toEqual([]);
    expect((await put('org', { secret_mappings: [] })).status).toBe(200);
    const reply = await expectRefusal(plane, () => put('org', { secret_mappings: [key] }), 400, 'AB01', true);
    expect(reply.body.data.message).toContain('belong to the integration of the organisation');
    expect((await plane.ask('GET', '/integrations/org')).body.secret_mappings).toHaveLength(1);
  });

  it('show the same mappings as providers and their integration', async () => {
    const body = { name: 'P', provider: 'openai', secret_mappings: [key], workspace_id: plane.workspaceId };
    const reply = await expectRefusal(plane, () => plane.ask('POST', '/providers', { body }), 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(/^secret_mappings: set secret_mappings on the integration/);
    expect((await plane.ask('POST', '/providers', { body: { ...body, secret_mappings: [], key: 'k' } })).status).toBe(200);
  });

  it('are copied with their mappings, to workspaces that may use them', async () => {
    await create({ slug: 'from', secret_mappings: [{ ...key, secret_reference_id: 'limited' }] });
    const source = { key: undefined, source_provider_api_key_id: (await read('from')).id };
    expect((await create({ ...source, slug: 'copy' })).status).toBe(200);
    expect((await read('copy')).secret_mappings).toMatchObject([{ target_field: 'key' }]);
    const elsewhere = () => create({ ...source, slug: 'copy', workspace_id: second });
    const reply = await expectRefusal(plane, elsewhere, 400, 'AB01', true);
    expect(reply.body.data.message).toContain('not open to this workspace');
    expect((await put('vk', { source_provider_api_key_id: source.source_provider_api_key_id })).status).toBe(200);
    expect(await read('vk')).toMatchObject({ masked_api_key: null, secret_mappings: [{ target_field: 'key' }] });
    const both = () => create({ ...source, secret_mappings: [key] });
    expect((await expectRefusal(plane, both, 400, 'AB01', true)).body.data.message).toMatch(/^secret_mappings: not together/);
  });
});
