import { describe, expect, it } from 'vitest';
import type { WorkspaceDocument } from '../../../core/contract/protocol/documents.ts';
import { createHarness, type Harness, workspaceId } from '../../../core/test-kit/pipeline-harness.ts';

const body = { model: 'gpt-5', messages: [{ role: 'user', content: 'hi' }] };

function savedOnly(): Harness {
  const gateway = createHarness();
  const document = gateway.documents.get(`workspace ${workspaceId}`) as WorkspaceDocument;
  const settings = {
    blockInlineConfig: true,
    debugLog: true,
    userKeyMetadata: false,
    userKeyMetadataOverride: false,
    cacheTtlSeconds: null,
  };
  gateway.documents.set(`workspace ${workspaceId}`, { ...document, settings });
  gateway.addConfig('pc-saved', { provider: '@one' });
  return gateway;
}

describe('saved-only mode', () => {
  it.each([
    ['an inline config', { config: '{"provider":"@one"}' }, 'inline_config_blocked', 'x-svc-config'],
    ['a provider by its type', { provider: 'openai' }, 'inline_provider_blocked', 'x-svc-provider'],
    ['a custom host', { provider: '@one', 'custom-host': 'https://a.com' }, 'inline_custom_host_blocked', 'x-svc-custom-host'],
    [
      'the URL of a provider',
      { provider: '@one', 'azure-foundry-url': 'https://a.com' },
      'inline_provider_url_blocked',
      'x-svc-azure-foundry-url',
    ],
    [
      'a setting of a provider',
      { config: 'pc-saved', 'azure-resource-name': 'mine' },
      'inline_provider_blocked',
      'x-svc-azure-resource-name',
    ],
    [
      'a secret of a provider',
      { config: 'pc-saved', 'aws-secret-access-key': 'x' },
      'inline_provider_blocked',
      'x-svc-aws-secret-access-key',
    ],
    [
      'forwarded headers',
      { provider: '@one', 'forward-headers': 'x-a' },
      'inline_forward_headers_blocked',
      'x-svc-forward-headers',
    ],
    [
      'several, the first of them',
      { config: '{}', provider: 'openai', 'custom-host': 'https://a.com' },
      'inline_config_blocked',
      'x-svc-config',
    ],
  ])('rejects %s before any provider is called', async (_what, headers, code, param) => {
    const gateway = savedOnly();
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [`x-svc-${name}`, value]));
    const reply = await gateway.send({ body, headers: named });
    expect([reply.status, reply.json]).toMatchObject([400, { error: { code, param } }]);
    expect(gateway.calls).toHaveLength(0);
    expect(gateway.records).toMatchObject([{ outcome: 'refused', errorCode: code }]);
  });

  it.each([
    ['a config', { 'x-svc-config': '{}' }, 'POST /v1/configs'],
    ['a provider', { 'x-svc-provider': 'openai' }, 'POST /v1/integrations'],
    ['a host', { 'x-svc-custom-host': 'https://a.com' }, 'configurations.custom_host'],
    ['a setting', { 'x-svc-azure-resource-name': 'mine' }, 'configurations.azure_resource_name'],
  ])('rejects %s with the route that stores it and the setting that allows inline use', async (_what, headers, where) => {
    const { error } = (await savedOnly().send({ body, headers })).json as { error: { message: string } };
    const { message } = error;
    expect(message).toContain(where);
    expect(message).toContain('data_plane_security_settings.block_inline_config to false with PUT /v1/organisations/self');
  });

  it.each([
    ['a saved config', { 'x-svc-config': 'pc-saved' }, body],
    ['a stored provider', { 'x-svc-provider': '@one' }, body],
    ['a stored provider by its old name', { 'x-svc-virtual-key': 'one' }, body],
    ['a stored provider by its old name, with its type', { 'x-svc-virtual-key': 'one', 'x-svc-provider': 'openai' }, body],
    ['a model of a stored provider', {}, { ...body, model: '@one/gpt-5' }],
    ['a bare Authorization', { 'x-svc-provider': '@one', authorization: 'Bearer sk-mine' }, body],
    [
      'a trace, metadata and a deadline',
      { 'x-svc-provider': '@one', 'x-svc-metadata': '{}', 'x-svc-request-timeout': '900' },
      body,
    ],
  ])('allows %s', async (_what, headers, params) => {
    const gateway = savedOnly();
    expect((await gateway.send({ body: params, headers })).status).toBe(200);
    expect(gateway.calls).toHaveLength(1);
  });

  it.each([
    ['pass-through', '/v1/proxy/models'],
    ['realtime', '/v1/realtime'],
  ])('applies to %s routes too', async (_what, path) => {
    const gateway = savedOnly();
    const headers = { 'x-svc-provider': 'openai', authorization: 'Bearer sk-mine' };
    const reply = await gateway.send({ method: 'GET', path, headers });
    expect([reply.status, reply.json]).toMatchObject([400, { error: { code: 'inline_provider_blocked' } }]);
    expect(gateway.calls).toHaveLength(0);
  });

  it('is off by default in documents', async () => {
    const gateway = createHarness();
    expect((await gateway.send({ body, headers: { 'x-svc-config': '{"provider":"@one"}' } })).status).toBe(200);
  });
});

it('config resolution: rejects a key whose workspace has been deleted', async () => {
  const gateway = createHarness();
  gateway.documents.delete(`workspace ${workspaceId}`);
  const reply = await gateway.send({ body, headers: { 'x-svc-provider': '@one' } });
  expect([reply.status, reply.json]).toMatchObject([403, { error: { code: 'forbidden' } }]);
  expect(gateway.calls).toHaveLength(0);
});
