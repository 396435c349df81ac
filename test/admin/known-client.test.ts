import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plane, startPlane } from './support/plane.ts';
import { ruleDatabase } from './support/test-database.ts';

/** The administration part of the reference product's client, on the resources that both products have. */
let plane: Plane;
let client: Portkey;

beforeAll(async () => {
  plane = await startPlane(ruleDatabase, { HEADER_PREFIX_ALIASES: 'x-portkey-' });
  client = new Portkey({ baseURL: `${plane.url}/v1`, apiKey: plane.adminKey });
});
afterAll(() => plane?.close());

describe('a client of another gateway', () => {
  it('saves, lists, reads, changes and deletes configs, and also sends the slug', async () => {
    const config = { provider: '@mock' };
    const made = await client.configs.create({ name: 'c', config, workspace_id: plane.workspaceId });
    const { slug, version_id: first } = (made as unknown as { data: { slug: string; version_id: string } }).data;
    expect(await client.configs.list({ workspace_id: plane.workspaceId })).toMatchObject({ success: true, data: [{ slug }] });
    expect(await client.configs.retrieve({ slug })).toMatchObject({ data: { config: { provider: '@mock' } } });
    const newer = { ...config, retry: { attempts: 1 } };
    const changed = (await client.configs.update({ slug, name: 'd', config: newer })) as { data?: { version_id: string } };
    expect(changed.data?.version_id).not.toBe(first);
    expect(await client.configs.retrieve({ slug })).toMatchObject({ data: { name: 'd', config: newer } });
    await client.configs.delete({ slug });
    await expect(client.configs.retrieve({ slug })).rejects.toMatchObject({ status: 404 });
  });

  it('does the same with virtual keys', async () => {
    const key = { provider: 'openai', key: 'sk-0123456789abcdef', note: null, apiVersion: null, resourceName: null };
    const made = (await client.virtualKeys.create({ name: 'v', workspace_id: plane.workspaceId, ...key })) as {
      data?: { slug: string };
    };
    const slug = made.data?.slug as string;
    const list = await client.virtualKeys.list({ workspace_id: plane.workspaceId });
    expect(list).toMatchObject({ object: 'list', data: expect.arrayContaining([expect.objectContaining({ slug })]) });
    expect(await client.virtualKeys.retrieve({ slug })).toMatchObject({ slug, masked_api_key: '****cdef' });
    const limits = { usage_limits: { credit_limit: 5 }, rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }] };
    await client.virtualKeys.update({ slug, name: 'w', ...limits });
    expect(await client.virtualKeys.retrieve({ slug })).toMatchObject({ name: 'w', usage_limits: { credit_limit: 5 } });
    await client.virtualKeys.delete({ slug });
    await expect(client.virtualKeys.retrieve({ slug })).rejects.toMatchObject({ status: 404 });
  });

  it('accepts older fields in snake case', async () => {
    const azure = { provider: 'azure-openai', key: 'k', resourceName: 'r', deploymentName: 'd', apiVersion: 'v1' };
    const made = await client.virtualKeys.create({ name: 'azure', workspace_id: plane.workspaceId, ...azure });
    const slug = (made as { data?: { slug: string } }).data?.slug as string;
    const rows = (names: readonly string[]) =>
      names.map((name) => ({ azure_deployment_name: name, azure_api_version: 'v1', azure_model_slug: name }));
    const shown = (await client.virtualKeys.retrieve({ slug })).model_config;
    expect(shown).toMatchObject({ azure_resource_name: 'r', azure_deployment_config: rows(['d']) });
    await client.virtualKeys.update({ slug, deploymentConfig: [{ deploymentName: 'e', apiVersion: 'v1' }] });
    expect((await client.virtualKeys.retrieve({ slug })).model_config).toMatchObject({ azure_deployment_config: rows(['e']) });
  });

  it('creates, reads, changes and deletes keys of each type, and also sends type, sub-type and id', async () => {
    const path = { workspace_id: plane.workspaceId };
    const kinds = [
      { type: 'workspace', 'sub-type': 'service', scopes: ['completions.write'], ...path },
      { type: 'organisation', 'sub-type': 'service', scopes: ['configs.list'] },
    ];
    for (const kind of kinds) {
      const { id } = (await client.apiKeys.create({ name: 'k', ...kind })) as unknown as { id: string };
      await client.apiKeys.update({ id, name: 'changed' } as never);
      expect(await client.apiKeys.retrieve({ id })).toMatchObject({ id, name: 'changed' });
      await client.apiKeys.delete({ id });
      await expect(client.apiKeys.retrieve({ id })).rejects.toMatchObject({ status: 404 });
    }
  });

  it('manages workspaces and members, and repeats the ids of the path', async () => {
    const person = { email: 'sdk@example.com', first_name: 'S', last_name: 'K', role: 'member', workspaces: [] };
    const userId = (await plane.ask('POST', '/admin/users', { body: person })).body.id as string;
    const { workspaces } = client.admin;
    const made = await workspaces.create({ name: 'SDK', description: 'd', users: [userId] } as never);
    const { id: workspaceId } = made as unknown as { id: string };
    expect(await workspaces.list({ current_page: 0, page_size: 5 } as never)).toMatchObject({ total: 2 });
    await workspaces.users.update({ workspaceId, userId, user_id: userId, role: 'manager' } as never);
    expect(await workspaces.users.list({ workspaceId })).toMatchObject({ data: [{ id: userId, role: 'manager' }] });
    await workspaces.users.delete({ workspaceId, userId });
    await workspaces.delete({ workspaceId, workspace_id: workspaceId, name: 'SDK' } as never);
    await expect(workspaces.retrieve({ workspaceId })).rejects.toMatchObject({ status: 403 });
  });

  it('names configs by slug alone while the organisation has several workspaces', async () => {
    const other = (await plane.ask('POST', '/admin/workspaces', { body: { name: 'Second' } })).body;
    const config = { retry: { attempts: 3 }, targets: [{ provider: 'openai' }] };
    const made = (await client.configs.create({ name: 'c', config, workspace_id: other.id })) as unknown as { slug: string };
    const { slug } = made;
    await client.configs.update({ slug, name: 'd', config: { retry: { attempts: 2 } } });
    expect(await client.configs.retrieve({ slug })).toMatchObject({ name: 'd', data: { name: 'd', workspace_id: other.id } });
    await client.configs.delete({ slug });
    await expect(client.configs.retrieve({ slug })).rejects.toMatchObject({ status: 404 });
    await plane.ask('DELETE', `/admin/workspaces/${other.id}`);
  });

  it('shares an integration, opens its models, and creates a provider on it', async () => {
    const slug = 'shared';
    await client.integrations.create({ name: 'i', slug, ai_provider_id: 'openai', key: 'sk-0123456789abcdef' });
    await client.integrations.update({ slug, description: 'd' });
    expect(await client.integrations.list({ type: 'organisation', page_size: 1 })).toMatchObject({ data: [{ slug }] });
    const access = { enabled: true };
    await client.integrations.workspaces.update({
      slug,
      global_workspace_access: access,
      override_existing_workspaces_access: true,
      workspaces: [{ id: plane.workspaceId, enabled: true }],
    });
    expect(await client.integrations.workspaces.list({ slug })).toMatchObject({ total: 1, global_workspace_access: access });
    await client.integrations.models.update({
      slug,
      allow_all_models: false,
      models: [{ slug: 'm', enabled: true, is_custom: true }],
    });
    expect(await client.integrations.models.list({ slug })).toMatchObject({ allow_all_models: false });
    await client.integrations.models.delete({ slug, slugs: 'm' });
    const path = { workspace_id: plane.workspaceId };
    await client.providers.create({ name: 'p', slug: 'p', integration_id: slug, ...path });
    await client.providers.update({ slug: 'p', note: 'n', rate_limits: { type: 'requests', unit: 'rpm', value: 5 }, ...path });
    expect(await client.providers.retrieve({ slug: 'p', ...path })).toMatchObject({ note: 'n', integration_id: slug });
    await client.providers.delete({ slug: 'p', ...path });
    await client.integrations.delete({ slug });
    await expect(client.integrations.retrieve({ slug })).rejects.toMatchObject({ status: 404 });
  });
});
