import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { databases } from '../../support/test-database.ts';

describe.each(databases)('sharing an integration of the organisation, on %s', (database) => {
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

  it('opens it to a workspace and makes its default provider there', async () => {
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

  it('closes it: the provider stays but gateways are told that it is gone', async () => {
    await expectChange(plane, share({ workspaces: [{ id: second, enabled: false }] }), {
      resource: 'integrations',
      action: 'update-workspaces',
      events: [`provider ${second}/shared delete`],
    });
    expect(await document(second)).toBeNull();
    expect((await plane.ask('GET', `/providers/shared?workspace_id=${second}`)).status).toBe(200);
  });

  it('does not reopen by making a provider what was closed', async () => {
    const body = { name: 'Again', slug: 'again', integration_id: 'shared', workspace_id: second };
    await expectRefusal(plane, () => plane.ask('POST', '/providers', { body }), 403, 'AB03', true);
  });

  it('opens it to all workspaces, those that were closed included when asked to', async () => {
    await expectChange(plane, share({ global_workspace_access: { enabled: true } }), {
      resource: 'integrations',
      action: 'update-workspaces',
      // What was closed stays closed and gets none; what it had is announced as any other.
      events: [`provider ${plane.workspaceId}/shared upsert`, `provider ${second}/shared upsert`],
    });
    expect(await document(plane.workspaceId)).toMatchObject({ slug: 'shared' });
    expect(await document(second)).toBeNull();
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

  it('refuses workspaces of others and integrations of one workspace', async () => {
    const other = await plane.newTenant();
    await expectRefusal(plane, share({ workspaces: [{ id: other.workspaceId, enabled: true }] }), 404, 'AB08', true);
    const body = { name: 'Own', slug: 'own', ai_provider_id: 'openai', key: 'sk-0123456789abcdef', workspace_id: second };
    await plane.ask('POST', '/integrations', { body });
    const request = () => plane.ask('PUT', '/integrations/own/workspaces', { body: { workspaces: [] } });
    await expectRefusal(plane, request, 400, 'AB01', true);
  });
});
