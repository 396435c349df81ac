import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../../support/outcomes.ts';
import { type Plane, startPlane } from '../../../support/plane.ts';
import { ruleDatabases } from '../../../support/test-database.ts';

describe.each(ruleDatabases)('sharing an integration of the organisation, on %s', (database) => {
  let plane: Plane;
  let second: string;
  beforeAll(async () => {
    plane = await startPlane(database);
    second = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second', slug: 'second' } })).body.id;
    const body = { name: 'Shared', slug: 'shared', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    expect((await plane.ask('POST', '/integrations', { body })).status).toBe(200);
  });
  afterAll(() => plane?.close());

  const share = (body: unknown) => () => plane.ask('PUT', '/integrations/shared/workspaces', { body });
  const document = async (workspaceId: string) =>
    (await plane.internal('GET', `/documents/provider/${workspaceId}%2Fshared`)).body.document;

  /** The states that reads and lists show of the provider. */
  async function statuses(workspaceId = second): Promise<string[]> {
    const paths = ['/providers/shared', '/providers', '/virtual-keys'];
    const replies = await Promise.all(paths.map((path) => plane.ask('GET', `${path}?workspace_id=${workspaceId}`)));
    return replies.map(({ body }) => {
      const rows: readonly { slug: string; status: string }[] = body.data ?? [body];
      return rows.find(({ slug }) => slug === 'shared')?.status ?? 'missing';
    });
  }

  it('opens it to a workspace and creates its default provider there', async () => {
    await expectChange(plane, share({ workspaces: [{ id: 'second', enabled: true }] }), {
      resource: 'integrations',
      action: 'update-workspaces',
      events: [`provider ${second}/shared upsert`],
    });
    expect(await document(second)).toMatchObject({ slug: 'shared', provider: 'openai', workspaceId: second });
    const list = (await plane.ask('GET', '/integrations/shared/workspaces')).body;
    expect(list).toMatchObject({
      total: 1,
      workspaces: [{ id: second, enabled: true }],
      global_workspace_access: { enabled: false },
    });
  });

  it('can be closed: the provider stays but gateways get a deletion', async () => {
    await expectChange(plane, share({ workspaces: [{ id: second, enabled: false }] }), {
      resource: 'integrations',
      action: 'update-workspaces',
      events: [`provider ${second}/shared delete`],
    });
    expect(await document(second)).toBeNull();
    expect(await statuses()).toEqual(['archived', 'archived', 'archived']);
  });

  it('is not reopened by creating a provider after it was closed', async () => {
    const body = { name: 'Again', slug: 'again', integration_id: 'shared', workspace_id: second };
    await expectRefusal(plane, () => plane.ask('POST', '/providers', { body }), 403, 'AB03', true);
  });

  it('opens it to all workspaces, including closed ones on request', async () => {
    await expectChange(plane, share({ global_workspace_access: { enabled: true } }), {
      resource: 'integrations',
      action: 'update-workspaces',
      // A closed workspace stays closed and gets no new provider. Its existing provider is announced like any other.
      events: [`provider ${plane.workspaceId}/shared upsert`, `provider ${second}/shared upsert`],
    });
    expect(await document(plane.workspaceId)).toMatchObject({ slug: 'shared' });
    expect(await document(second)).toBeNull();
    expect(await statuses(plane.workspaceId)).toEqual(['active', 'active', 'active']);
    expect(await statuses()).toEqual(['archived', 'archived', 'archived']);
    await expectChange(plane, share({ global_workspace_access: { enabled: true }, override_existing_workspace_access: true }), {
      resource: 'integrations',
      action: 'update-workspaces',
      events: [`provider ${second}/shared upsert`, `provider ${plane.workspaceId}/shared upsert`],
    });
    expect(await document(second)).toMatchObject({ slug: 'shared' });
    const third = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Third' } })).body.id;
    expect(await document(third)).toMatchObject({ slug: 'shared', workspaceId: third });
    const wsKey = { key: plane.workspaceKey, body: { name: 'Global', slug: 'global', integration_id: 'shared' } };
    expect((await plane.ask('POST', '/providers', wsKey)).status).toBe(200);
  });

  it('accepts concurrent first changes', async () => {
    const body = { name: 'Raced', slug: 'raced', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    await plane.ask('POST', '/integrations', { body });
    const open = { workspaces: [{ id: second, enabled: true }] };
    const both = await Promise.all([1, 2, 3].map(() => plane.ask('PUT', '/integrations/raced/workspaces', { body: open })));
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { workspaces } = (await plane.ask('GET', '/integrations/raced/workspaces')).body;
    expect(workspaces).toMatchObject([{ id: second, enabled: true }]);
    const all = (await plane.ask('GET', `/providers?workspace_id=${second}`)).body.data;
    expect(all.filter((one: { integration_id: string }) => one.integration_id === 'raced')).toHaveLength(1);
  });

  it('rejects workspaces of others and integrations of one workspace', async () => {
    const other = await plane.newTenant();
    const foreign = share({ workspaces: [{ id: other.workspaceId, enabled: true }] });
    const refused = await expectRefusal(plane, foreign, 404, 'AB02', true);
    expect(refused.body.data.message).toBe('workspaces[0].id: Workspace not found');
    const body = { name: 'Own', slug: 'own', ai_provider_id: 'openai', key: 'sk-0123456789abcdef', workspace_id: second };
    await plane.ask('POST', '/integrations', { body });
    const request = () => plane.ask('PUT', '/integrations/own/workspaces', { body: { workspaces: [] } });
    await expectRefusal(plane, request, 400, 'AB01', true);
  });

  it('lets its workspace read it, without the organisation’s own fields', async () => {
    const third = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Reader' } })).body.id;
    const configurations = { custom_host: 'https://llm.example.com/v1', custom_headers: { 'x-token': 'planted-0123456789' } };
    const account = { ai_provider_id: 'openai', key: 'sk-planted-0123456789', configurations };
    const body = { name: 'Readable', slug: 'readable', tags: { team: 'a' }, pricing_adjustments: { multiplier: { default: 2 } } };
    const { id } = (await plane.ask('POST', '/integrations', { body: { ...body, ...account } })).body;
    const key = {
      body: { name: 'k', scopes: ['workspace_integrations.read', 'workspace_integrations.list'], workspace_id: third },
    };
    const workspaceKey = (await plane.ask('POST', '/api-keys/workspace/service', key)).body.key;
    const readers = (slug: string) => [
      () => plane.ask('GET', `/integrations/${slug}?workspace_id=${third}`),
      () => plane.ask('GET', `/integrations/${slug}`, { key: workspaceKey }),
    ];
    const listed = async () =>
      (await plane.ask('GET', '/integrations', { key: workspaceKey })).body.data.map((one: { slug: string }) => one.slug);
    for (const ask of [...readers('readable'), ...readers(id)]) await expectRefusal(plane, ask, 404, 'AB08', false);
    for (const open of [{ workspaces: [{ id: third, enabled: true }] }, { global_workspace_access: { enabled: true } }]) {
      expect((await plane.ask('PUT', '/integrations/readable/workspaces', { body: open })).status).toBe(200);
      expect(await listed()).toContain('readable');
      for (const ask of [...readers('readable'), ...readers(id)]) {
        const { status, body: read } = await ask();
        expect(status).toBe(200);
        expect(read).toMatchObject({ id, slug: 'readable', workspace_id: null, tags: { team: 'a' }, allow_all_models: true });
        expect(read).toMatchObject({ masked_key: null, configurations: {}, secret_mappings: [], pricing_adjustments: null });
      }
    }
    const owner = (await plane.ask('GET', '/integrations/readable')).body;
    expect(owner).toMatchObject({ masked_key: '****6789', pricing_adjustments: body.pricing_adjustments });
    // The setting of the workspace takes precedence over the one for all, in the list too.
    await plane.ask('PUT', '/integrations/readable/workspaces', { body: { workspaces: [{ id: third, enabled: false }] } });
    for (const ask of readers('readable')) await expectRefusal(plane, ask, 404, 'AB08', false);
    expect(await listed()).not.toContain('readable');
  });
});
