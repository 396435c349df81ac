import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrations } from '../../../../../admin/resources/integrations/entity.ts';
import { secretMappings } from '../../../../../admin/resources/integrations/secret-mappings/secret-mapping-entity.ts';
import { openSecrets } from '../../../../../admin/resources/integrations/secrets.ts';
import { expectChange, expectRefusal } from '../../../support/outcomes.ts';
import { type Plane, startPlane } from '../../../support/plane.ts';
import { ruleDatabases } from '../../../support/test-database.ts';
import { vaultReference } from '../../secret-references/probes.ts';

describe.each(ruleDatabases)('secret mappings of integrations, on %s', (database) => {
  let plane: Plane;
  let vaultId: string;
  let second: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id;
    vaultId = (await plane.ask('POST', '/secret-references', { body: { ...vaultReference, slug: 'vault' } })).body.id;
    const ofSecond = { ...vaultReference, slug: 'of-second', allowed_workspaces: ['second'] };
    await plane.ask('POST', '/secret-references', { body: ofSecond });
  });
  afterAll(() => plane?.close());

  const key = { target_field: 'key', secret_reference_id: 'vault' };
  const asRead = (sent: object) => ({ secret_key: null, value_format: null, ...sent, secret_reference_id: vaultId });
  const base = { name: 'I', ai_provider_id: 'openai' };
  const aws = { aws_auth_type: 'accessKey', aws_region: 'eu-central-1' };
  const bedrock = { name: 'B', ai_provider_id: 'bedrock', configurations: aws };
  const accessKey = ['aws_access_key_id', 'aws_secret_access_key'].map((name) => ({
    target_field: `configurations.${name}`,
    secret_reference_id: 'vault',
    secret_key: name,
  }));

  const create = (body: object) => plane.ask('POST', '/integrations', { body });
  const put = (slug: string, body: object) => plane.ask('PUT', `/integrations/${slug}`, { body });
  const read = async (slug: string) => (await plane.ask('GET', `/integrations/${slug}`)).body;
  const em = () => plane.control.services.database.em();
  const rowOf = (slug: string) => em().findOneOrFail(integrations, { slug });
  const storedIn = async (slug: string) => openSecrets(em(), plane.control.services.vault, await rowOf(slug));
  const mappingCount = async (slug: string) => em().count(secretMappings, { integrationId: (await rowOf(slug)).id });

  it('are stored by slug or id of the reference, and returned by its id', async () => {
    const trace = { resource: 'integrations', action: 'create', events: [] };
    const reply = await expectChange(plane, () => create({ ...base, slug: 'mapped', secret_mappings: [key] }), trace);
    expect(reply.body).toMatchObject({ slug: 'mapped' });
    expect(await read('mapped')).toMatchObject({ masked_key: null, secret_mappings: [asRead(key)] });
    const more = [
      { ...key, secret_reference_id: vaultId, secret_key: 'api_key', value_format: 'json' },
      { target_field: 'configurations.openai_project', secret_reference_id: 'vault', secret_key: '', value_format: null },
    ];
    await create({ ...base, slug: 'more', secret_mappings: more });
    expect((await read('more')).secret_mappings).toEqual([asRead(more[0] ?? {}), asRead({ ...more[1], secret_key: null })]);
  });

  it('satisfy required fields of a provider type', async () => {
    const reply = await create({ ...bedrock, slug: 'aws', secret_mappings: accessKey });
    expect([reply.status, reply.body]).toMatchObject([200, { slug: 'aws' }]);
    expect((await read('aws')).configurations).toEqual(aws);
    const half = { ...bedrock, secret_mappings: accessKey.slice(1) };
    const refused = await expectRefusal(plane, () => create(half), 400, 'AB01', true);
    expect(refused.body.data.message).toBe('configurations.aws_access_key_id: required with aws_auth_type accessKey');
    const emptied = await expectRefusal(plane, () => put('aws', { secret_mappings: [] }), 400, 'AB01', true);
    expect(emptied.body.data.errors).toHaveLength(2);
    expect((await read('aws')).secret_mappings).toHaveLength(2);
  });

  it('stay if an update does not name them, are replaced as a list, and cleared by [] and null', async () => {
    await put('mapped', { name: 'Renamed' });
    expect((await read('mapped')).secret_mappings).toEqual([asRead(key)]);
    const other = { target_field: 'configurations.oauth_client_secret', secret_reference_id: 'vault', secret_key: 'b' };
    await put('mapped', { secret_mappings: [other] });
    expect((await read('mapped')).secret_mappings).toEqual([asRead(other)]);
    await put('mapped', { secret_mappings: [] });
    expect((await read('mapped')).secret_mappings).toEqual([]);
    await put('mapped', { secret_mappings: [key, other] });
    await put('mapped', { secret_mappings: null });
    expect((await read('mapped')).secret_mappings).toEqual([]);
    expect(await mappingCount('mapped')).toBe(0);
  });

  it('replace stored values, and values replace them', async () => {
    const value = { key: 'sk-planted-0123456789abcdef', configurations: { openai_project: 'p' } };
    await create({ ...base, ...value, slug: 'either' });
    const project = { ...key, target_field: 'configurations.openai_project' };
    await put('either', { secret_mappings: [key, project] });
    expect(await storedIn('either')).toEqual({});
    expect(await read('either')).toMatchObject({
      masked_key: null,
      configurations: {},
      secret_mappings: [asRead(key), asRead(project)],
    });
    // Neither an empty text nor a masked one is a value.
    await put('either', { key: null, configurations: { openai_project: null } });
    await put('either', { key: '****cdef' });
    expect((await read('either')).secret_mappings).toHaveLength(2);
    await put('either', { key: value.key });
    expect((await read('either')).secret_mappings).toEqual([asRead(project)]);
    expect(await storedIn('either')).toEqual({ api_key: value.key });
    await put('either', { configurations: { openai_project: 'q' } });
    expect(await read('either')).toMatchObject({ configurations: { openai_project: 'q' }, secret_mappings: [] });
  });

  it('change the version, which is announced to gateways', async () => {
    const body = { ...base, slug: 'own', workspace_id: plane.workspaceId, secret_mappings: [key] };
    const told = [`provider ${plane.workspaceId}/own upsert`];
    await expectChange(plane, () => create(body), { resource: 'integrations', action: 'create', events: told });
    const { headers } = await plane.ask('GET', '/integrations/own');
    const stale = {
      headers: { 'if-match': headers.get('etag') ?? '' },
      body: { secret_mappings: [{ ...key, secret_key: 'x' }] },
    };
    const change = () => plane.ask('PUT', '/integrations/own', stale);
    await expectChange(plane, change, { resource: 'integrations', action: 'update', events: told });
    await expectRefusal(plane, change, 412, 'AB12', true);
  });

  it('are deleted with the integration', async () => {
    expect(await mappingCount('own')).toBe(1);
    expect((await plane.ask('DELETE', '/integrations/own')).status).toBe(200);
    expect(await mappingCount('own')).toBe(0);
  });

  it('are unmasked in the audit log, because they are no secrets', async () => {
    await put('mapped', { secret_mappings: [key] });
    const { requestBody } = await plane.lastAudit();
    expect(requestBody).toMatchObject({ secret_mappings: [key] });
  });

  const openaiTargets = 'key, configurations.oauth_client_id, configurations.oauth_client_secret, configurations.oauth_scope';
  const refused: [string, object, string][] = [
    ['no target', { secret_reference_id: 'vault' }, 'secret_mappings[0].target_field: required'],
    ['no reference', { target_field: 'key' }, 'secret_mappings[0].secret_reference_id: required'],
    ['an unknown field', { ...key, colour: 1 }, 'secret_mappings[0].colour: unknown key'],
    ['a format that is none', { ...key, value_format: 'yaml' }, 'secret_mappings[0].value_format: string or json'],
    [
      'an unknown target',
      { ...key, target_field: 'configurations.colour' },
      `secret_mappings[0].target_field: one of ${openaiTargets}`,
    ],
    [
      'a target of virtual keys',
      { ...key, target_field: 'model_config.openai_project' },
      'secret_mappings[0].target_field: one of',
    ],
    ['a bare setting', { ...key, target_field: 'openai_project' }, 'secret_mappings[0].target_field: one of'],
    ['a setting of others', { ...key, target_field: 'configurations.aws_region' }, 'secret_mappings[0].target_field: one of'],
    ['a host', { ...key, target_field: 'configurations.custom_host' }, 'secret_mappings[0].target_field: one of'],
    [
      'a token endpoint',
      { ...key, target_field: 'configurations.oauth_token_endpoint' },
      'secret_mappings[0].target_field: one of',
    ],
    ['headers', { ...key, target_field: 'configurations.custom_headers' }, 'secret_mappings[0].target_field: one of'],
    [
      'a way to authenticate',
      { ...key, target_field: 'configurations.provider_auth_type' },
      'secret_mappings[0].target_field: one',
    ],
    ['a switch', { ...key, target_field: 'configurations.use_responses_api' }, 'secret_mappings[0].target_field: one of'],
    ['a part of every object', { ...key, target_field: 'configurations.constructor' }, 'secret_mappings[0].target_field: one of'],
  ];
  it.each(refused)('are rejected with %s', async (_, mapping, start) => {
    const reply = await expectRefusal(plane, () => create({ ...base, secret_mappings: [mapping] }), 400, 'AB01', true);
    expect(reply.body.data.message.slice(0, start.length)).toBe(start);
  });

  it('are rejected as duplicates, with a value, and in other shapes than a list', async () => {
    const cases: [object, string][] = [
      [{ secret_mappings: [key, { ...key, secret_key: 'b' }] }, 'secret_mappings[1].target_field: duplicate'],
      [
        { secret_mappings: [key], key: 'sk-planted' },
        'secret_mappings[0].target_field: the field also has a value in this request',
      ],
      [
        {
          secret_mappings: [key, { ...key, target_field: 'configurations.openai_project' }],
          configurations: { openai_project: 'p' },
        },
        'secret_mappings[1].target_field: the field also has a value in this request',
      ],
      [{ secret_mappings: key }, 'secret_mappings: expected'],
      [{ secret_mappings: Array.from({ length: 51 }, () => key) }, 'secret_mappings: at most 50 fields'],
    ];
    for (const [body, start] of cases) {
      for (const request of [() => create({ ...base, ...body }), () => put('mapped', body)]) {
        const reply = await expectRefusal(plane, request, 400, 'AB01', true);
        expect(reply.body.data.message.slice(0, start.length)).toBe(start);
        expect(JSON.stringify(reply.body)).not.toContain('planted');
      }
    }
  });

  it('can only name references of the organisation that are open to the workspace', async () => {
    const other = await plane.newTenant();
    const theirs = await plane.ask('POST', '/secret-references', {
      key: other.adminKey,
      body: { ...vaultReference, slug: 'theirs' },
    });
    const workspace_id = plane.workspaceId;
    for (const secret_reference_id of [theirs.body.id, 'theirs', '00000000-0000-4000-8000-000000000000', 'of-second']) {
      const body = { ...base, workspace_id, secret_mappings: [{ ...key, secret_reference_id }] };
      const reply = await expectRefusal(plane, () => create(body), 404, 'AB02', true);
      expect(reply.body.data.message).toBe('secret_mappings[0].secret_reference_id: Secret reference not found');
    }
    const there = { ...base, workspace_id: second, secret_mappings: [{ ...key, secret_reference_id: 'of-second' }] };
    expect((await create(there)).status).toBe(200);
  });
});
