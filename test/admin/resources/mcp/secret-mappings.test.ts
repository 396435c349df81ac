import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpServerDocument } from '../../../../core/contract/protocol/mcp/mcp.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';
import { vaultReference } from '../secret-references/probes.ts';

const token = { target_field: 'configurations.headers.Authorization', secret_reference_id: 'vault', secret_key: 'token' };
const group = { target_field: 'configurations.passthrough_headers', secret_reference_id: 'vault', value_format: 'json' };

describe.each(ruleDatabases)('secret mappings of MCP integrations, on %s', (database) => {
  let plane: Plane;
  let second: string;
  let vaultId: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id;
    const references = [
      { ...vaultReference, slug: 'vault' },
      { ...vaultReference, slug: 'limited', allowed_workspaces: [plane.workspaceId] },
      { ...vaultReference, slug: 'of-second', allowed_workspaces: [second] },
    ];
    [{ id: vaultId }] = await Promise.all(
      references.map(async (body) => (await plane.ask('POST', '/secret-references', { body })).body),
    );
  });
  afterAll(() => plane?.close());

  let count = 0;
  const fields = (more: object = {}) => ({
    ...{ name: 'Issues', slug: `issues-${++count}`, url: 'https://mcp.example.com/mcp', transport: 'http', auth_type: 'headers' },
    ...more,
  });
  const create = (more: object, key?: string) =>
    plane.ask('POST', '/mcp-integrations', { ...(key ? { key } : {}), body: fields(more) });
  const put = (id: string, body: object, key?: string) =>
    plane.ask('PUT', `/mcp-integrations/${id}`, { ...(key ? { key } : {}), body });
  const share = (id: string, workspace: string) =>
    plane.ask('PUT', `/mcp-integrations/${id}/workspaces`, { body: { workspaces: [{ id: workspace, enabled: true }] } });
  const documentOf = async (slug: string) =>
    (await plane.internal('GET', `/documents/mcp-server/${plane.workspaceId}%2F${slug}`)).body.document;
  /** An integration with a server of the same name. */
  async function serve(slug: string, secret_mappings: object[]): Promise<string> {
    const { id } = (await create({ secret_mappings })).body;
    await share(id, plane.workspaceId);
    const body = { name: 'S', slug, workspace_id: plane.workspaceId, mcp_integration_id: id };
    expect((await plane.ask('POST', '/mcp-servers', { body })).status).toBe(200);
    return id;
  }

  it('are returned as sent, and reach gateways with a sealed credential', async () => {
    const id = await serve('sealed', [token, group]);
    const { secret_mappings: shown } = (await plane.ask('GET', `/mcp-integrations/${id}`)).body;
    expect(shown).toEqual([
      { ...token, target_field: 'configurations.headers.authorization', secret_reference_id: vaultId, value_format: null },
      { ...group, secret_reference_id: vaultId, secret_key: null },
    ]);
    const { data } = (await plane.ask('GET', '/mcp-integrations?type=organisation')).body;
    expect(data.find((one: { id: string }) => one.id === id).secret_mappings).toEqual(shown);
    const found = v.parse(mcpServerDocument, await documentOf('sealed'));
    expect(found.mappedSecrets).toMatchObject([
      {
        field: 'headers.authorization',
        isSecret: true,
        format: 'string',
        id: vaultId,
        key: 'token',
        authSecrets: expect.any(String),
      },
      { field: 'passthrough_headers', isSecret: false, format: 'json', key: null },
    ]);
    expect(JSON.stringify(found)).not.toContain('planted');
  });

  it('keep their place when other fields change, and end with an empty list', async () => {
    const id = await serve('kept', [token]);
    const event = { events: [`mcp-server ${plane.workspaceId}/kept upsert`] };
    await expectChange(plane, () => put(id, { name: 'Renamed' }), { resource: 'mcp_integrations', action: 'update', ...event });
    expect((await documentOf('kept')).mappedSecrets).toHaveLength(1);
    await put(id, { secret_mappings: [], auth_type: 'none' });
    expect(await documentOf('kept')).not.toHaveProperty('mappedSecrets');
  });

  it.each<[string, object[], string]>([
    [
      'a field that is no header',
      [{ ...token, target_field: 'configurations.oauth_metadata' }],
      'secret_mappings[0].target_field',
    ],
    ['a key', [{ ...token, target_field: 'key' }], 'secret_mappings[0].target_field'],
    [
      'a header of the protocol',
      [{ ...token, target_field: 'configurations.headers.mcp-session-id' }],
      'secret_mappings[0].target_field',
    ],
    [
      'a header twice',
      [token, { ...token, target_field: 'configurations.custom_headers.authorization' }],
      'secret_mappings[1].target_field: duplicate',
    ],
    ['a group that is no JSON', [{ ...group, value_format: 'string' }], 'secret_mappings[0].value_format'],
    ['a header that is JSON', [{ ...token, value_format: 'json' }], 'secret_mappings[0].value_format'],
  ])('are refused for %s', async (_, secret_mappings, text) => {
    const reply = await expectRefusal(plane, () => create({ secret_mappings }), 400, 'AB01', true);
    expect(reply.body.data.message).toContain(text);
  });

  it('are refused for a header that also has a value, and for an unknown reference', async () => {
    const both = { secret_mappings: [token], configurations: { headers: { authorization: 'Bearer x' } } };
    const reply = await expectRefusal(plane, () => create(both), 400, 'AB01', true);
    expect(reply.body.data.message).toContain('secret_mappings[0].target_field: the header also has a value');
    const unknown = { secret_mappings: [{ ...token, secret_reference_id: 'nothing' }] };
    const refused = await expectRefusal(plane, () => create(unknown), 404, 'AB02', true);
    expect(refused.body.data.message).toContain('secret_mappings[0].secret_reference_id');
    const closed = { workspace_id: plane.workspaceId, secret_mappings: [{ ...token, secret_reference_id: 'of-second' }] };
    await expectRefusal(plane, () => create(closed), 404, 'AB02', true);
  });

  it('need the right to change secret references, because the URL receives the value', async () => {
    const key = await plane.newKey(['workspace_mcp_integrations.create', 'workspace_mcp_integrations.update']);
    const reply = await expectRefusal(plane, () => create({ secret_mappings: [token] }, key), 403, 'AB03', true);
    expect(reply.body.data.message).toContain('secret_references.update');
    const own = (await create({ workspace_id: plane.workspaceId, secret_mappings: [token] })).body.id;
    expect((await put(own, { name: 'Renamed' }, key)).status).toBe(200);
    expect((await put(own, { secret_mappings: [], auth_type: 'none' }, key)).status).toBe(200);
    await expectRefusal(plane, () => put(own, { secret_mappings: [token] }, key), 403, 'AB03', true);
    await put(own, { secret_mappings: [token] });
    await expectRefusal(plane, () => put(own, { url: 'https://elsewhere.example.com/mcp' }, key), 403, 'AB03', true);
  });

  it('limit the workspaces that an integration can be shared with', async () => {
    const id = await serve('limited', [{ ...token, secret_reference_id: 'limited' }]);
    const reply = await expectRefusal(plane, () => share(id, second), 400, 'AB01', true);
    expect(reply.body.data.message).toContain('the secret reference limited is not open');
    expect(await documentOf('limited')).not.toBeNull();
    await plane.ask('PUT', '/secret-references/limited', { body: { allowed_workspaces: [second] } });
    expect(await documentOf('limited')).toBeNull();
  });

  it('keep a reference from being deleted, and announce its changes', async () => {
    const { id } = (await plane.ask('POST', '/secret-references', { body: { ...vaultReference, slug: 'used' } })).body;
    const user = await serve('user', [{ ...token, secret_reference_id: 'used' }]);
    const { slug } = (await plane.ask('GET', `/mcp-integrations/${user}`)).body;
    const remove = () => plane.ask('DELETE', '/secret-references/used');
    const reply = await expectRefusal(plane, remove, 400, 'AB01', true);
    expect(reply.body.data.message).toMatch(new RegExp(`is used by 1 MCP integrations: ${slug}\\. Change them first$`));
    const change = () => plane.ask('PUT', `/secret-references/${id}`, { body: { secret_key: 'other' } });
    const events = [`mcp-server ${plane.workspaceId}/user upsert`];
    await expectChange(plane, change, { resource: 'secret_references', action: 'update', events });
    await plane.ask('DELETE', `/mcp-integrations/${user}`);
    expect((await remove()).status).toBe(200);
  });
});
