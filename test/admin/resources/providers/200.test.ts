import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyPurposes } from '../../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, unseal } from '../../../../core/contract/values/credentials/secret.ts';
import { expectChange } from '../../support/outcomes.ts';
import { type Plane, startPlane } from '../../support/plane.ts';
import { ruleDatabases } from '../../support/test-database.ts';

describe.each(ruleDatabases)('accepted providers, on %s', (database) => {
  let plane: Plane;
  beforeAll(async () => {
    plane = await startPlane(database, { TRUSTED_CUSTOM_HOSTS: 'localhost:1234' });
    const body = { name: 'OpenAI', slug: 'openai-org', ai_provider_id: 'openai', key: 'sk-0123456789abcdef' };
    await plane.ask('POST', '/integrations', { body });
  });
  afterAll(() => plane?.close());

  const document = async (slug: string) =>
    (await plane.internal('GET', `/documents/provider/${plane.workspaceId}%2F${slug}`)).body.document;
  const open = (sealed: { id: string; secrets: string }) =>
    JSON.parse(
      unseal(deriveKey(plane.settings.clusterKey, keyPurposes.transport), sealed.secrets, `provider/${sealed.id}`).toString(),
    );

  it('can be created from an integration, with a receipt as the reply', async () => {
    const body = { name: 'Production', slug: 'prod', integration_id: 'openai-org', note: 'for the team' };
    const reply = await expectChange(plane, () => plane.ask('POST', '/providers', { body }), {
      resource: 'providers',
      action: 'create',
      events: [`provider ${plane.workspaceId}/prod upsert`],
    });
    expect(reply.body).toEqual({ id: expect.any(String), slug: 'prod', object: 'provider' });
    expect((await plane.ask('GET', '/providers/prod')).body).toMatchObject({
      id: reply.body.id,
      name: 'Production',
      note: 'for the team',
      integration_id: 'openai-org',
      status: 'active',
      expires_at: null,
      object: 'provider',
    });
    expect(open(await document('prod'))).toEqual({ api_key: 'sk-0123456789abcdef' });
  });

  it('may use camelCase', async () => {
    const body = {
      name: 'Camel',
      slug: 'camel',
      integrationId: 'openai-org',
      workspaceId: plane.workspaceId,
      expiresAt: '2099-01-01T00:00:00Z',
    };
    expect((await plane.ask('POST', '/providers', { body })).status).toBe(200);
    expect((await plane.ask('GET', '/providers/camel')).body.expires_at).toBe('2099-01-01T00:00:00.000Z');
  });

  it('get an integration from credentials sent in place', async () => {
    const body = {
      name: 'Inline',
      slug: 'inline',
      provider: 'bedrock',
      awsAuthType: 'accessKey',
      awsRegion: 'us-east-1',
      awsAccessKeyId: 'AKIA000000000000',
      awsSecretAccessKey: 'aws-secret-0123456789',
    };
    await expectChange(plane, () => plane.ask('POST', '/providers', { body }), {
      resource: 'providers',
      action: 'create',
      events: [`provider ${plane.workspaceId}/inline upsert`],
    });
    const made = await document('inline');
    expect(made).toMatchObject({ provider: 'bedrock', settings: { aws_auth_type: 'accessKey', aws_region: 'us-east-1' } });
    expect(open(made)).toEqual({ aws_access_key_id: 'AKIA000000000000', aws_secret_access_key: 'aws-secret-0123456789' });
    const audit = await plane.lastAudit();
    expect(JSON.stringify(audit.requestBody)).not.toMatch(/aws-secret|AKIA/);
  });

  it('may have a provider type with its key and a custom host', async () => {
    const body = {
      name: 'Local',
      slug: 'local',
      ai_provider_id: 'openai',
      key: 'sk-local-0123456789',
      custom_host: 'http://localhost:1234/v1',
    };
    expect((await plane.ask('POST', '/providers', { key: plane.workspaceKey, body })).status).toBe(200);
    expect(await document('local')).toMatchObject({ settings: { custom_host: 'http://localhost:1234/v1' }, customHeaders: {} });
  });

  it('have fields changed and cleared', async () => {
    const body = { name: 'Renamed', note: null, expires_at: '2099-01-01T00:00:00Z' };
    await expectChange(plane, () => plane.ask('PUT', '/providers/prod', { body }), {
      resource: 'providers',
      action: 'update',
      events: [`provider ${plane.workspaceId}/prod upsert`],
    });
    expect((await plane.ask('GET', '/providers/prod')).body).toMatchObject({ name: 'Renamed', note: null });
    expect((await document('prod')).expiresAt).toBe('2099-01-01T00:00:00.000Z');
    await plane.ask('PUT', '/providers/prod', { body: { expires_at: null } });
    expect((await document('prod')).expiresAt).toBeNull();
  });

  it('can be deleted, and their slug is free again', async () => {
    const reply = await expectChange(plane, () => plane.ask('DELETE', '/providers/prod'), {
      resource: 'providers',
      action: 'delete',
      events: [`provider ${plane.workspaceId}/prod delete`],
    });
    expect(reply.body).toEqual({});
    expect(await document('prod')).toBeNull();
    const body = { name: 'Production', slug: 'prod', integration_id: 'openai-org' };
    expect((await plane.ask('POST', '/providers', { body })).status).toBe(200);
  });

  it('are listed with their integration', async () => {
    const { total, data } = (await plane.ask('GET', '/providers', { key: plane.workspaceKey })).body;
    expect(total).toBe(data.length);
    expect(data.map((one: { slug: string }) => one.slug).sort()).toEqual(['camel', 'inline', 'local', 'mock', 'prod']);
    expect(data.find((one: { slug: string }) => one.slug === 'mock')).toMatchObject({
      ai_provider_name: 'mock',
      integration_id: 'mock',
    });
  });
});
