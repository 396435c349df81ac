import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { integrations } from '../../../../admin/resources/integrations/entity.ts';
import { expectChange } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('accepted integrations, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { TRUSTED_CUSTOM_HOSTS: '10.0.0.1' });
  });
  afterAll(() => plane?.close());

  const planted = 'sk-planted-0123456789abcdef';

  it('are stored without a provider for the organisation', async () => {
    const body = {
      name: 'OpenAI',
      slug: 'openai-org',
      ai_provider_id: 'openai',
      key: planted,
      configurations: { openai_organization: 'org-1', custom_host: 'http://10.0.0.1:8080/v1', custom_headers: { 'x-team': 'a' } },
    };
    const trace = { resource: 'integrations', action: 'create', events: [] };
    const reply = await expectChange(plane, () => plane.ask('POST', '/integrations', { body }), trace);
    expect(reply.body).toEqual({ id: expect.any(String), slug: 'openai-org', object: 'integration' });
    const read = (await plane.ask('GET', '/integrations/openai-org')).body;
    expect(read).toMatchObject({
      id: reply.body.id,
      workspace_id: null,
      ai_provider_id: 'openai',
      masked_key: '****cdef',
      configurations: body.configurations,
      workspace_count: 0,
      global_workspace_access_settings: { enabled: false },
    });
  });

  it('have no plain credential in the row, the reply or the audit entry', async () => {
    const row = await plane.control.services.database.em().findOneOrFail(integrations, { slug: 'openai-org' });
    const audits = await plane.ask('GET', '/audit-logs?start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z');
    const read = await plane.ask('GET', '/integrations/openai-org');
    for (const seen of [row, audits.body, read.body, plane.log.lines]) expect(JSON.stringify(seen)).not.toContain('planted');
    expect(JSON.parse(audits.body.records[0].request_body).key).toBe('***');
    expect(row.secrets).toMatch(/^1:[\w-]+$/);
  });

  it('get a default provider in a workspace', async () => {
    const body = { name: 'Team', slug: 'team', ai_provider_id: 'anthropic', key: planted, workspace_id: plane.workspaceId };
    await expectChange(plane, () => plane.ask('POST', '/integrations', { body }), {
      resource: 'integrations',
      action: 'create',
      events: [`provider ${plane.workspaceId}/team upsert`],
    });
    expect((await plane.ask('GET', '/providers/team')).body).toMatchObject({ ai_provider_name: 'anthropic', status: 'active' });
  });

  it('keep omitted fields in an update, and announce every provider made from them', async () => {
    await plane.ask('POST', '/providers', { body: { name: 'A', slug: 'a', integration_id: 'openai-org' } });
    await plane.ask('POST', '/providers', { body: { name: 'B', slug: 'b', integration_id: 'openai-org' } });
    const body = { name: 'Renamed', configurations: { openai_organization: null, openai_project: 'p-1' } };
    await expectChange(plane, () => plane.ask('PUT', '/integrations/openai-org', { body }), {
      resource: 'integrations',
      action: 'update',
      events: [`provider ${plane.workspaceId}/a upsert`, `provider ${plane.workspaceId}/b upsert`],
    });
    const read = (await plane.ask('GET', '/integrations/openai-org')).body;
    expect(read.name).toBe('Renamed');
    expect(read.masked_key).toBe('****cdef');
    expect(read.configurations).toEqual({
      openai_project: 'p-1',
      custom_host: 'http://10.0.0.1:8080/v1',
      custom_headers: { 'x-team': 'a' },
    });
  });

  it('have masked secret settings, and a masked value sent back means unchanged', async () => {
    const configurations = {
      aws_auth_type: 'accessKey',
      aws_region: 'eu-central-1',
      aws_access_key_id: 'AKIAPLANTED000000001',
      aws_secret_access_key: 'planted-secret-access-key-XYZW',
    };
    await plane.ask('POST', '/integrations', {
      body: { name: 'Bedrock', slug: 'aws', ai_provider_id: 'bedrock', configurations },
    });
    const read = (await plane.ask('GET', '/integrations/aws')).body;
    expect(read.configurations).toMatchObject({ aws_region: 'eu-central-1', aws_secret_access_key: '****XYZW' });
    expect(read.masked_key).toBeNull();
    const before = await plane.control.services.database.em().findOneOrFail(integrations, { slug: 'aws' });
    expect((await plane.ask('PUT', '/integrations/aws', { body: { configurations: read.configurations } })).status).toBe(200);
    const after = await plane.control.services.database.em().findOneOrFail(integrations, { slug: 'aws' });
    expect(after.secrets).toBe(before.secrets);
  });

  it('are archived: their providers stop working and their credential is deleted', async () => {
    await expectChange(plane, () => plane.ask('DELETE', '/integrations/team'), {
      resource: 'integrations',
      action: 'delete',
      events: [`provider ${plane.workspaceId}/team delete`],
    });
    expect((await plane.ask('GET', '/integrations/team')).status).toBe(404);
    for (const path of ['/providers/team', '/virtual-keys/team']) {
      expect((await plane.ask('GET', path)).body.status).toBe('archived');
    }
    expect((await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2Fteam`)).body.document).toBeNull();
    const row = await plane.control.services.database.em().findOneOrFail(integrations, { slug: 'team' });
    expect(row).toMatchObject({ status: 'archived', secrets: null });
  });

  it('are listed as far as the caller may see them', async () => {
    const slugs = async (query: string, key: string) =>
      (await plane.ask('GET', `/integrations${query}`, { key })).body.data.map((one: { slug: string }) => one.slug).sort();
    expect(await slugs('', plane.adminKey)).toEqual(['aws', 'mock', 'openai-org']);
    expect(await slugs('?type=workspace', plane.adminKey)).toEqual([]);
    // Shared by the providers created above. `aws` was never shared.
    expect(await slugs('', plane.workspaceKey)).toEqual(['mock', 'openai-org']);
  });

  it.each([
    [
      'bedrock',
      {
        aws_auth_type: 'assumedRole',
        aws_region: 'eu-central-1',
        aws_role_arn: 'arn:aws:iam::123456789012:role/models',
        aws_session_tags: 'team, cost-center=project',
        aws_s3_bucket: 'our-bucket',
        aws_bedrock_model: 'amazon.nova-lite-v1:0',
        amz_server_side_encryption: 'aws:kms',
        amz_server_side_encryption_aws_kms_key_id: 'arn:aws:kms:eu-central-1:123456789012:key/1-2',
        provider_batch_endpoint: '/v1/chat/completions',
      },
    ],
    [
      'vertex-ai',
      {
        vertex_auth_type: 'basic',
        vertex_region: 'us-central1',
        vertex_project_id: 'p',
        vertex_storage_bucket_name: 'our.bucket_1',
        provider_model: 'gemini-2.5-flash',
      },
    ],
    ['stability-ai', { stability_client_id: 'my-app', stability_client_user_id: 'u 1', stability_client_version: '1.2' }],
  ])('integrations: providers get the settings of %s', async (type, configurations) => {
    const slug = `kept-${type}`;
    const body = { name: type, slug, ai_provider_id: type, key: planted, configurations, workspace_id: plane.workspaceId };
    const made = await plane.ask('POST', '/integrations', { body });
    expect([made.status, made.body]).toMatchObject([200, { slug }]);
    expect((await plane.ask('GET', `/integrations/${slug}`)).body.configurations).toEqual(configurations);
    const { body: read } = await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2F${slug}`);
    expect(read.document.settings).toMatchObject(configurations);
  });

  it('name fields that ask for a provider, which an integration of the organisation does not get', async () => {
    const create = async (slug: string, more: object) => {
      const reply = await plane.ask('POST', '/integrations', {
        body: { name: slug, slug, ai_provider_id: 'openai', key: planted, ...more },
      });
      return [reply.status, reply.headers.get('x-svc-unused-settings')];
    };
    const asked = { create_default_provider: true, default_provider_slug: 'mine' };
    expect(await create('asks-for-one', asked)).toEqual([200, 'create_default_provider, default_provider_slug']);
    expect(await create('asks-for-none', { create_default_provider: false })).toEqual([200, null]);
    expect(await create('gets-one', { ...asked, workspace_id: plane.workspaceId })).toEqual([200, null]);
    expect((await plane.ask('GET', '/providers/mine')).body).toMatchObject({ name: 'gets-one' });
  });
});
