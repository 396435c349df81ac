import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../../admin/db/new-id.ts';
import { guardrails, guardrailVersions } from '../../../../admin/resources/guardrails/entity.ts';
import { mcpIntegrations } from '../../../../admin/resources/mcp-integrations/entity.ts';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, unseal } from '../../../../core/contract/values/credentials/secret.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('MCP integrations and servers, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  let count = 0;
  const fields = (more: object = {}) => ({
    ...{ name: 'Issues', slug: `issues-${++count}`, url: 'https://mcp.example.com/mcp', transport: 'http' },
    ...{ auth_type: 'headers', configurations: { headers: { Authorization: 'Bearer secret-of-the-server' } } },
    ...more,
  });
  const integrate = async (more: object = {}) => (await plane.ask('POST', '/mcp-integrations', { body: fields(more) })).body;
  const serve = (integration: string, more: object = {}) =>
    plane.ask('POST', '/mcp-servers', {
      body: { name: 'Server', workspace_id: plane.workspaceId, mcp_integration_id: integration, ...more },
    });
  const documentOf = async (slug: string) =>
    (await plane.internal('GET', `/documents/mcp-server/${plane.workspaceId}%2F${slug}`)).body.document;
  const share = (id: string, enabled = true) =>
    plane.ask('PUT', `/mcp-integrations/${id}/workspaces`, { body: { workspaces: [{ id: plane.workspaceId, enabled }] } });
  const shared = async (slug: string, more: object = {}) => {
    const { id } = await integrate(more);
    await share(id);
    const made = await serve(id, { slug });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    return { id, server: made.body.id as string };
  };

  it('an integration seals its headers, shows them masked and keeps masked values', async () => {
    const { id, slug, object } = await integrate({ description: 'All issues' });
    expect(object).toBe('mcp-integration');
    const read = (await plane.ask('GET', `/mcp-integrations/${slug}`)).body;
    expect(read).toMatchObject({ id, slug, type: 'organisation', auth_type: 'headers', description: 'All issues' });
    expect(read.configurations).toEqual({ custom_headers: { authorization: '****rver' } });
    const row = await plane.control.services.database.em().findOneOrFail(mcpIntegrations, { id });
    expect(JSON.stringify(row)).not.toContain('secret-of-the-server');
    const configurations = {
      headers: { ...read.configurations.custom_headers, 'x-team': 'a' },
      passthrough_headers: { 'x-team': 'b' },
    };
    expect((await plane.ask('PUT', `/mcp-integrations/${id}`, { body: { configurations } })).body).toEqual({});
    expect((await plane.ask('GET', `/mcp-integrations/${id}`)).body.configurations).toEqual({
      custom_headers: { authorization: '****rver' },
      passthrough_headers: { 'x-team': 'b' },
    });
    const list = (await plane.ask('GET', '/mcp-integrations?search=issues&page_size=1')).body;
    expect(list).toMatchObject({ object: 'list', has_more: list.total > 1, data: [{ workspaces_count: expect.any(Number) }] });
  });

  it('servers show no credential in the URL of their integration', async () => {
    const { id } = await integrate({ url: 'https://mcp.example.com/mcp?api_key=planted&team=a' });
    await share(id);
    const made = (await serve(id, { slug: 'keyed' })).body;
    const shown = 'https://mcp.example.com/mcp?api_key=***&team=a';
    expect((await plane.ask('GET', `/mcp-servers/${made.id}`)).body).toMatchObject({ mcp_integration_details: { url: shown } });
    const listed = (await plane.ask('GET', `/mcp-servers?id=${made.id}`)).body;
    expect(listed).toMatchObject({ data: [{ mcp_integration_url: shown }] });
  });

  it('a server has the document that gateways load, while its workspace may use the integration', async () => {
    const { id } = await integrate({
      configurations: { headers: { 'x-key': 'k' }, forward_headers: ['X-Team'], tools: { blocked: ['drop'] } },
    });
    const early = await expectRefusal(plane, () => serve(id, { slug: 'early' }), 404, 'AB02', true);
    expect(early.body.data.message).toBe(
      'mcp_integration_id: MCP integration not found in this workspace. Share one of the organisation with it first: PUT /v1/mcp-integrations/{id}/workspaces',
    );
    await share(id);
    const made = await expectChange(plane, () => serve(id, { slug: 'issues' }), {
      ...{ resource: 'mcp_servers', action: 'create', events: [`mcp-server ${plane.workspaceId}/issues upsert`] },
    });
    const document = await documentOf('issues');
    expect(document).toMatchObject({
      ...{ id: made.body.id, slug: 'issues', url: 'https://mcp.example.com/mcp', transport: 'http', authType: 'headers' },
      forwardHeaders: { mode: 'allowlist', headers: [{ from: 'x-team', to: 'x-team' }] },
      disabled: { tool: ['drop'], prompt: [], resource: [], resource_template: [] },
      access: { default: 'allow', exceptions: [] },
    });
    const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
    expect(JSON.parse(unseal(key, document.headers, `mcp-server/${document.id}`).toString())).toEqual({ 'x-key': 'k' });
    const detail = (await plane.ask('GET', `/mcp-servers/${made.body.id}`)).body;
    expect(detail).toMatchObject({ slug: 'issues', mcp_integration_details: { id, auth_type: 'headers', configurations: {} } });
    expect(detail.url).toMatch(/\/ws-default\/issues\/mcp$/);
    expect((await plane.ask('PUT', `/mcp-servers/${made.body.id}`, { body: { description: 'D' } })).body).toEqual({});
    const listed = (await plane.ask('GET', `/mcp-servers?id=${made.body.id}`)).body;
    expect(listed).toMatchObject({
      total: 1,
      data: [{ description: 'D', workspace_slug: 'ws-default', mcp_integration_id: id }],
    });
    await share(id, false);
    expect(await documentOf('issues')).toBeNull();
    expect((await plane.ask('GET', `/mcp-servers/${made.body.id}`)).body.status).toBe('archived');
    expect((await plane.ask('GET', `/mcp-servers?id=${made.body.id}`)).body.data[0].status).toBe('archived');
    await share(id);
    expect((await plane.ask('GET', `/mcp-servers/${made.body.id}`)).body.status).toBe('active');
  });

  it('the secret of an introspection endpoint is sealed, masked, and bound to its host', async () => {
    const rules = {
      introspectEndpoint: 'https://a.example/active',
      introspectClientId: 'me',
      introspectClientSecret: 'secret-of-the-endpoint',
    };
    const { id } = await shared('validated', { configurations: { jwt_validation: rules }, auth_type: 'none' });
    const row = await plane.control.services.database.em().findOneOrFail(mcpIntegrations, { id });
    expect(JSON.stringify(row)).not.toContain(rules.introspectClientSecret);
    const { configurations } = (await plane.ask('GET', `/mcp-integrations/${id}`)).body;
    expect(configurations.jwt_validation).toMatchObject({ introspectClientSecret: '****oint', algorithms: ['RS256'] });
    const put = (more: object) =>
      plane.ask('PUT', `/mcp-integrations/${id}`, {
        body: { configurations: { jwt_validation: { ...configurations.jwt_validation, ...more } } },
      });
    expect((await put({ maxTokenAge: '1h' })).status).toBe(200);
    const document = await documentOf('validated');
    const key = deriveKey(plane.settings.clusterKey, keyPurposes.transport);
    expect(JSON.parse(unseal(key, document.externalTokens, `mcp-server/${document.id}/tokens`).toString())).toMatchObject(rules);
    await expectRefusal(plane, () => put({ introspectEndpoint: 'https://b.example/active' }), 400, 'AB01', true);
  });

  it('a read of the workspaces of an integration accepts the version that clients ask for', async () => {
    const { id } = await integrate();
    await share(id);
    const plain = (await plane.ask('GET', `/mcp-integrations/${id}/workspaces`)).body;
    expect(plain.workspaces).toEqual(plain.data);
    expect((await plane.ask('GET', `/mcp-integrations/${id}/workspaces?version=v2`)).body).toEqual(plain);
  });

  it('archiving an integration archives its servers', async () => {
    const { id, server } = await shared('to-archive');
    await expectChange(plane, () => plane.ask('DELETE', `/mcp-integrations/${id}`), {
      ...{ resource: 'mcp_integrations', action: 'delete', events: [`mcp-server ${plane.workspaceId}/to-archive delete`] },
    });
    expect(await documentOf('to-archive')).toBeNull();
    expect((await plane.ask('GET', `/mcp-servers/${server}`)).status).toBe(404);
    const again = await shared('to-archive');
    await plane.ask('DELETE', `/mcp-servers/${again.server}`);
    expect(await documentOf('to-archive')).toBeNull();
  });

  it('auth_type headers needs a header: one of its own, or one of the client', async () => {
    const create = (more: object) => plane.ask('POST', '/mcp-integrations', { body: fields(more) });
    const missing = 'configurations.headers: required by auth_type headers';
    const refused = await expectRefusal(plane, () => create({ configurations: {} }), 400, 'AB01', true);
    expect(refused.body.data.message).toContain(missing);
    for (const configurations of [{ passthrough_headers: { 'x-a': 'b' } }, { forward_headers: ['x-a'] }]) {
      expect((await create({ configurations })).status).toBe(200);
    }
    const { id } = await integrate();
    const put = (body: object) => plane.ask('PUT', `/mcp-integrations/${id}`, { body });
    const removed = await expectRefusal(plane, () => put({ configurations: { headers: {} } }), 400, 'AB01', true);
    expect(removed.body.data.message).toContain(missing);
    expect((await put({ auth_type: 'none', configurations: { headers: {} } })).status).toBe(200);
  });

  it('a new host needs the headers again', async () => {
    const { id } = await integrate();
    const move = (more: object) => () =>
      plane.ask('PUT', `/mcp-integrations/${id}`, { body: { url: 'https://other.example.com/mcp', ...more } });
    await expectRefusal(plane, move({}), 400, 'AB01', true);
    expect((await move({ configurations: { headers: { authorization: 'Bearer new' } } })()).status).toBe(200);
  });

  it.each([
    ['url', { url: 'http://10.0.0.1/mcp' }],
    ['url', { url: 'http://169.254.169.254/mcp' }],
    ['auth_type', { auth_type: 'basic' }],
    ['transport', { transport: 'stdio' }],
    ['configurations.headers', { configurations: { headers: { 'mcp-session-id': 'x' } } }],
    ['configurations.headers', { configurations: { headers: { 'x-a': 'a\nb' } } }],
    ['configurations.forward_headers', { configurations: { forward_headers: ['Cookie'] } }],
    ['configurations.forward_headers', { configurations: { forward_headers: [{ from: 'x-a', to: 'Metadata-Flavor' }] } }],
    ['configurations.forward_headers', { configurations: { forward_headers: ['X-aws-ec2-metadata-token-ttl-seconds'] } }],
    ['configurations.forward_headers', { configurations: { forward_headers: [{ from: 'x-a', to: 'authorization' }] } }],
    ['configurations.jwt_validation', { configurations: { jwt_validation: {} } }],
    [
      'configurations.jwt_validation: not together with auth_type oauth_auto',
      { auth_type: 'oauth_auto', configurations: { jwt_validation: { jwksUri: 'https://a.example' } } },
    ],
    ['configurations.jwt_validation.jwksUri', { configurations: { jwt_validation: { jwksUri: 'http://169.254.169.254/' } } }],
    [
      'configurations.oauth_metadata.token_endpoint',
      { auth_type: 'oauth_auto', configurations: { oauth_metadata: { token_endpoint: 'http://10.0.0.1/token' } } },
    ],
    [
      'configurations.oauth_metadata.authorization_endpoint',
      { auth_type: 'oauth_auto', configurations: { oauth_metadata: { authorization_endpoint: 'javascript:alert(1)' } } },
    ],
    [
      'configurations.jwt_validation: jwks.keys[1].d is a private parameter',
      { configurations: { jwt_validation: { jwks: { keys: [{ kty: 'RSA' }, { kty: 'RSA', d: 'secret' }] } } } },
    ],
    [
      'configurations.jwt_validation: jwks.keys[0].k is a private parameter',
      { configurations: { jwt_validation: { jwks: '{"keys":[{"kty":"oct","k":"secret"}]}' } } },
    ],
    [
      'configurations.jwt_validation.algorithms',
      { configurations: { jwt_validation: { jwksUri: 'https://a.example', algorithms: ['HS256'] } } },
    ],
    [
      'introspectClientSecret',
      { configurations: { jwt_validation: { introspectEndpoint: 'https://a.example', introspectClientSecret: 's' } } },
    ],
    [
      'configurations.user_identity_forwarding',
      { configurations: { user_identity_forwarding: { method: 'bearer', header_name: 'mcp-method' } } },
    ],
    [
      'configurations.user_identity_forwarding.header_name',
      { auth_type: 'oauth_auto', configurations: { user_identity_forwarding: { method: 'bearer' } } },
    ],
    [
      'configurations.user_identity_forwarding.header_name',
      {
        auth_type: 'oauth_auto',
        configurations: { user_identity_forwarding: { method: 'jwt_header', header_name: 'Authorization' } },
      },
    ],
    ['configurations.cb_config', { configurations: { cb_config: { cooldown_interval: 1 } } }],
    ['configurations.request_timeout', { configurations: { request_timeout: 1 } }],
    ['secret_mappings', { secret_mappings: [{ target_field: 'x', secret_reference_id: 'y' }] }],
  ])('an integration names the field %s of a bad value', async (field, more) => {
    const reply = await expectRefusal(
      plane,
      () => plane.ask('POST', '/mcp-integrations', { body: fields(more) }),
      400,
      'AB01',
      true,
    );
    expect(reply.body.data.message).toContain(field);
  });

  it('a workspace key reads shared integrations without their headers, and changes only its own', async () => {
    const { id } = await shared('readable');
    const key = await plane.newKey([
      ...['workspace_mcp_integrations.create', 'workspace_mcp_integrations.read', 'workspace_mcp_integrations.update'],
      'organisation_mcp_integrations.list',
    ]);
    const read = await plane.ask('GET', `/mcp-integrations/${id}`, { key });
    expect(read.body.configurations).toEqual({});
    const change = { key, body: { name: 'Mine' } };
    await expectRefusal(plane, () => plane.ask('PUT', `/mcp-integrations/${id}`, change), 404, 'AB08', true);
    const own = await plane.ask('POST', '/mcp-integrations', { key, body: fields() });
    expect(own.status, JSON.stringify(own.body)).toBe(200);
    expect((await plane.ask('PUT', `/mcp-integrations/${own.body.id}`, change)).status).toBe(200);
    const list = (await plane.ask('GET', '/mcp-integrations', { key })).body;
    expect(list.data.map((one: { id: string }) => one.id)).toEqual(expect.arrayContaining([id, own.body.id]));
  });

  describe('guardrails of servers', () => {
    const save = async (more: object = {}, sides: ('input' | 'output')[] = ['input']) => {
      const row = {
        ...{ id: newId(), organisationId: plane.organisationId, workspaceId: plane.workspaceId, versionId: newId() },
        ...{ slug: `pg-${++count}`, name: 'G', target: 'mcp_tools' as const, status: 'active' as const, ownerId: newId() },
        ...{ createdAt: new Date(), lastUpdatedAt: new Date(), ...more },
      };
      const em = plane.control.services.database.em();
      em.create(guardrails, row);
      await em.flush();
      const { organisationId, workspaceId, versionId, ownerId, createdAt } = row;
      const version = { id: versionId, guardrailId: row.id, organisationId, workspaceId, ownerId, createdAt, number: 1 };
      const actions = { deny: true, async: false, sequential: false, on_success: null, on_fail: null };
      em.create(guardrailVersions, { ...version, checks: [], actions, sides, secrets: null });
      await em.flush();
      return row.id;
    };
    const put = (id: string, body: object) => plane.ask('PUT', `/guardrails/${id}/mcp-servers`, { body });
    const onInput = { run_on: ['input'] };

    it('are mapped as a set; every change is announced to gateways', async () => {
      const [first, second] = [await shared('mapped-1'), await shared('mapped-2')];
      await plane.ask('PUT', `/mcp-integrations/${first.id}/capabilities`, {
        body: { capabilities: [{ name: 'drop', type: 'tool', enabled: true }] },
      });
      const page = (await plane.ask('GET', `/mcp-servers/${first.server}/capabilities`)).body;
      const id = await save();
      const events = (...slugs: string[]) => slugs.map((slug) => `mcp-server ${plane.workspaceId}/${slug} upsert`);
      const trace = { resource: 'guardrails', action: 'replace-mcp-servers' };
      const one = { run_on: ['input', 'input'], mcp_integration_capability_ids: [page.data[0].id] };
      const both = { mcp_servers: { [first.server]: one, [second.server]: onInput } };
      const made = await expectChange(plane, () => put(id, both), { ...trace, events: events('mapped-1', 'mapped-2') });
      expect(made.body).toEqual({ changed: true, added: 2, updated: 0, removed: 0 });
      expect((await documentOf('mapped-1')).guardrails).toEqual([{ id, input: true, output: false, tools: ['drop'] }]);
      expect((await put(id, both)).body).toEqual({ changed: false, added: 0, updated: 0, removed: 0 });
      const changed = { mcp_servers: { [first.server]: onInput } };
      expect((await put(id, changed)).body).toEqual({ changed: true, added: 0, updated: 1, removed: 1 });
      expect((await documentOf('mapped-2')).guardrails).toEqual([]);
      const list = (await plane.ask('GET', `/guardrails/${id}/mcp-servers`)).body;
      expect(list.data).toMatchObject([{ mcp_server_id: first.server, run_on: ['input'], capability_ids: [] }]);
      const again = await plane.ask('PUT', `/guardrails/${id}/mcp-servers/${first.server}`, { body: onInput });
      expect(again.body).toEqual({ map_id: list.data[0].id });
    });

    it('run on both sides of every tool if the mapping names neither', async () => {
      const { server } = await shared('both-sides');
      const id = await save({}, ['input', 'output']);
      expect((await put(id, { mcp_servers: { [server]: {} } })).body).toMatchObject({ added: 1 });
      expect((await documentOf('both-sides')).guardrails).toEqual([{ id, input: true, output: true, tools: null }]);
      await plane.ask('PUT', `/guardrails/${id}/mcp-servers/${server}`, { body: onInput });
      await plane.ask('PUT', `/guardrails/${id}/mcp-servers/${server}`, { body: {} });
      expect((await documentOf('both-sides')).guardrails).toEqual([{ id, input: true, output: true, tools: null }]);
    });

    it('do not list servers that were deleted, so that a list can be sent back', async () => {
      const [kept, gone] = [await shared('kept'), await shared('gone')];
      const id = await save();
      await put(id, { mcp_servers: { [kept.server]: onInput, [gone.server]: onInput } });
      expect((await plane.ask('DELETE', `/mcp-servers/${gone.server}`)).status).toBe(200);
      const listed = (await plane.ask('GET', `/guardrails/${id}/mcp-servers`)).body;
      expect(listed).toMatchObject({ total: 1, data: [{ mcp_server_id: kept.server }] });
      expect((await plane.ask('GET', `/guardrails/${id}`)).body.mcp_server_mappings).toHaveLength(1);
      expect((await put(id, { mcp_servers: {} })).body).toEqual({ changed: true, added: 0, updated: 0, removed: 1 });
    });

    it('are mapped by the slugs of servers too', async () => {
      const { server } = await shared('by-slug');
      const id = await save();
      expect((await put(id, { mcp_servers: { 'by-slug': onInput } })).body).toMatchObject({ added: 1 });
      expect((await documentOf('by-slug')).guardrails).toEqual([{ id, input: true, output: false, tools: null }]);
      const again = await plane.ask('PUT', `/guardrails/${id}/mcp-servers/by-slug`, { body: onInput });
      expect((await plane.ask('GET', `/guardrails/${id}/mcp-servers`)).body.data).toMatchObject([
        { id: again.body.map_id, mcp_server_id: server },
      ]);
      const twice = () => put(id, { mcp_servers: { 'by-slug': onInput, [server]: onInput } });
      const reply = await expectRefusal(plane, twice, 400, 'AB01', true);
      expect(reply.body.data.message).toContain('names the same server');
      const near = await expectRefusal(plane, () => put(id, { mcp_servers: { 'by-slgu': onInput } }), 404, 'AB02', true);
      expect(near.body.data.message).toBe('mcp_servers.by-slgu: MCP server not found; did you mean by-slug?');
    });

    it('are named by slug in integrations, run on every server there, and are in use', async () => {
      const { id: integration } = await shared('with-guardrails');
      const id = await save({ workspaceId: null, slug: 'no-secrets' });
      const list = (input_guardrails: string[] | null, more: object = {}) =>
        plane.ask('PUT', `/mcp-integrations/${integration}`, { body: { configurations: { input_guardrails, ...more } } });
      const events = [`mcp-server ${plane.workspaceId}/with-guardrails upsert`];
      const trace = { resource: 'mcp_integrations', action: 'update', events };
      await expectChange(plane, () => list(['no-secrets', id]), trace);
      expect((await documentOf('with-guardrails')).guardrails).toEqual([{ id, input: true, output: false, tools: null }]);
      expect((await plane.ask('GET', `/mcp-integrations/${integration}`)).body.configurations.input_guardrails).toEqual([id]);
      const refused = async (configurations: object, status: number, text: string) => {
        const change = () => plane.ask('PUT', `/mcp-integrations/${integration}`, { body: { configurations } });
        const reply = await expectRefusal(plane, change, status, status === 404 ? 'AB02' : 'AB01', true);
        expect(reply.body.data.message).toContain(text);
      };
      const unknown = 'configurations.input_guardrails[1]: Guardrail no-secrest not found; did you mean no-secrets?';
      await refused({ input_guardrails: [id, 'no-secrest'] }, 404, unknown);
      await refused({ output_guardrails: [id] }, 400, 'configurations.output_guardrails[0]: the checks of no-secrets run on');
      await refused({ input_guardrails: [await save({ target: 'llm', workspaceId: null })] }, 400, 'is for models');
      const remove = () => plane.ask('DELETE', `/guardrails/${id}`);
      const used = await expectRefusal(plane, remove, 409, 'AB07', true);
      expect(used.body.data.message).toMatch(/is used by 1 MCP integration \(issues-\d+\)\. Remove it there first/);
      await list(null);
      expect((await documentOf('with-guardrails')).guardrails).toEqual([]);
      expect((await remove()).status).toBe(200);
    });

    it.each<[string, (server: string) => object, object, string, number, string]>([
      ['an unknown server', () => ({ [newId()]: onInput }), {}, 'AB02', 404, 'mcp_servers.'],
      [
        'an unknown tool',
        (id) => ({ [id]: { ...onInput, mcp_integration_capability_ids: [newId()] } }),
        {},
        'AB02',
        404,
        'capability_ids',
      ],
      ['a side that its checks do not have', (id) => ({ [id]: { run_on: ['output'] } }), {}, 'AB01', 400, 'run_on'],
      ['no side', (id) => ({ [id]: { run_on: [] } }), {}, 'AB01', 400, 'run_on'],
      ['a guardrail for models', (id) => ({ [id]: onInput }), { target: 'llm' }, 'AB01', 400, 'mcp_tools'],
    ])('are refused with %s', async (_, servers, more, code, status, text) => {
      const { server } = await shared(`refused-${++count}`);
      const id = await save(more);
      const reply = await expectRefusal(plane, () => put(id, { mcp_servers: servers(server) }), status, code, true);
      expect(reply.body.data.message).toContain(text);
    });
  });
});
