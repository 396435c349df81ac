import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrations } from '../../../../admin/resources/integrations/entity.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';
import { expectChange, expectRefusal } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { hidesForeignItems, refusesMissingScopes, refusesUnknownKeys } from '../../support/refusal-suites.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('virtual keys, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database);
  });
  afterAll(() => plane?.close());

  const integrationOf = async (slug: string) => {
    const { integration_id: name } = (await plane.ask('GET', `/virtual-keys/${slug}`)).body;
    return plane.control.services.database.em().findOneOrFail(integrations, { slug: name });
  };

  it('are a provider and the workspace’s own integration', async () => {
    const body = { name: 'Key', slug: 'key', provider: 'openai', key: 'sk-planted-0123456789', note: 'n' };
    const reply = await expectChange(plane, () => plane.ask('POST', '/virtual-keys', { body }), {
      resource: 'virtual_keys',
      action: 'create',
      events: [`provider ${plane.workspaceId}/key upsert`],
    });
    expect(reply.body).toEqual({ success: true, data: { slug: 'key' } });
    const read = await plane.ask('GET', '/virtual-keys/key');
    expect(read.body).toMatchObject({
      slug: 'key',
      note: 'n',
      object: 'virtual-key',
      masked_api_key: '****6789',
      status: 'active',
    });
    expect(JSON.stringify(read.body)).not.toContain('planted');
    expect((await integrationOf('key')).workspaceId).toBe(plane.workspaceId);
    expect((await plane.ask('GET', '/providers/key')).body).toMatchObject({ slug: 'key', object: 'provider' });
  });

  it('accept deployments of Azure in the older spelling', async () => {
    const body = {
      name: 'Azure',
      slug: 'azure',
      provider: 'azure-openai',
      key: 'k-0123456789abcdef',
      resourceName: 'res',
      deploymentConfig: [{ apiVersion: '2024-10-21', deploymentName: 'dep', alias: 'gpt', is_default: true }],
    };
    expect((await plane.ask('POST', '/virtual-keys', { body })).status).toBe(200);
    expect((await integrationOf('azure')).configurations).toMatchObject({
      azure_auth_mode: 'default',
      azure_resource_name: 'res',
      azure_deployment_config: [
        {
          azure_deployment_name: 'dep',
          azure_api_version: '2024-10-21',
          azure_model_slug: 'dep',
          alias: 'gpt',
          is_default: true,
        },
      ],
    });
    const one = { ...body, slug: 'azure-one', deploymentConfig: undefined, deploymentName: 'dep', apiVersion: 'v1' };
    expect((await plane.ask('POST', '/virtual-keys', { body: one })).status).toBe(200);
    await expectRefusal(
      plane,
      () => plane.ask('POST', '/virtual-keys', { body: { ...body, slug: 'z', deploymentConfig: [{ alias: 'x' }] } }),
      400,
      'AB01',
      true,
    );
  });

  it('can change credential and limits, and deletion removes the credential', async () => {
    const change = { key: 'sk-renewed-abcdefghijkl', usage_limits: { type: 'cost', credit_limit: 10, alert_threshold: 5 } };
    await expectChange(plane, () => plane.ask('PUT', '/virtual-keys/key', { body: change }), {
      resource: 'virtual_keys',
      action: 'update',
      events: [`provider ${plane.workspaceId}/key upsert`],
    });
    expect((await plane.ask('GET', '/virtual-keys/key')).body).toMatchObject({
      masked_api_key: '****ijkl',
      usage_limits: { type: 'cost', credit_limit: 10, alert_threshold: 5 },
    });
    const { id } = await integrationOf('key');
    await expectChange(plane, () => plane.ask('DELETE', '/virtual-keys/key'), {
      resource: 'virtual_keys',
      action: 'delete',
      events: [`provider ${plane.workspaceId}/key delete`],
    });
    const row = await plane.control.services.database.em().findOneOrFail(integrations, { id });
    expect(row).toMatchObject({ status: 'archived', secrets: null });
  });

  it('leave an integration of the organisation unchanged', async () => {
    const own = { name: 'Org', slug: 'org', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    await plane.ask('POST', '/integrations', { body: own });
    await plane.ask('POST', '/virtual-keys', { body: { name: 'On', slug: 'on', integration_id: 'org' } });
    const body = { key: 'sk-stolen-0123456789' };
    await expectRefusal(plane, () => plane.ask('PUT', '/virtual-keys/on', { body }), 400, 'AB01', true);
    expect((await plane.ask('GET', '/virtual-keys/on')).body).toMatchObject({ masked_api_key: null, model_config: {} });
    expect((await plane.ask('DELETE', '/virtual-keys/on')).status).toBe(200);
    expect((await plane.ask('GET', '/integrations/org')).body.status).toBe('active');
  });

  it('need no migration', async () => {
    const { id } = (await plane.ask('GET', '/virtual-keys/azure')).body;
    const body = { virtual_key_id: id, organisation_id: plane.organisationId };
    const reply = await plane.ask('POST', '/virtual-keys/migrate', { body });
    expect(reply.body).toEqual({ success: true, data: { slug: 'azure', integration_id: expect.any(String) } });
    const unknown = { virtual_key_id: 'no-such-key' };
    await expectRefusal(plane, () => plane.ask('POST', '/virtual-keys/migrate', { body: unknown }), 404, 'AB02', true);
  });

  it('are listed page by page', async () => {
    const list = (await plane.ask('GET', '/virtual-keys?current_page=0&page_size=1')).body;
    expect(list).toMatchObject({ object: 'list', total: 3, data: [{ object: 'virtual-key' }] });
    expect(list.data[0]).not.toHaveProperty('last_used_at');
    const createdAt = '2026-02-01T00:00:00.000Z';
    const { organisationId, workspaceId } = plane;
    await plane.internal('POST', '/records', [sampleRecord({ organisationId, workspaceId, providerSlug: 'azure', createdAt })]);
    for (const path of ['/virtual-keys', '/providers']) {
      const { data } = (await plane.ask('GET', `${path}?return_last_used=true`)).body;
      const times = Object.fromEntries(data.map((one: { slug: string; last_used_at: string }) => [one.slug, one.last_used_at]));
      expect(times).toMatchObject({ azure: createdAt, 'azure-one': null });
    }
  });
});

const probes = [
  { method: 'GET' as const, path: '/virtual-keys' },
  { method: 'POST' as const, path: '/virtual-keys', body: { name: 'x', provider: 'openai', key: 'k' } },
  { method: 'GET' as const, path: '/virtual-keys/mock' },
  { method: 'PUT' as const, path: '/virtual-keys/mock', body: { name: 'x' } },
  { method: 'DELETE' as const, path: '/virtual-keys/mock' },
  { method: 'POST' as const, path: '/virtual-keys/migrate', body: { virtual_key_id: 'mock' } },
];
refusesUnknownKeys('virtual keys', probes);
refusesMissingScopes('virtual keys', probes);
hidesForeignItems(
  'virtual keys',
  async (plane) => {
    const body = { name: 'A', slug: 'foreign', provider: 'openai', key: 'k' };
    await plane.ask('POST', '/virtual-keys', { body });
    return [(await plane.ask('GET', '/virtual-keys/foreign')).body.id, 'foreign'];
  },
  (name) => [
    { method: 'GET', path: `/virtual-keys/${name}` },
    { method: 'PUT', path: `/virtual-keys/${name}`, body: { name: 'x' } },
    { method: 'DELETE', path: `/virtual-keys/${name}` },
  ],
);
