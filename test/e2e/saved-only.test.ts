import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type GatewayWithUpstream,
  shareGatewayWithUpstream,
  startGatewayWithUpstream,
} from '../support/product/gateway-with-upstream.ts';
import { startLoneGateway } from '../support/product/lone-gateway.ts';
import { until } from '../support/until.ts';

const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };
const inline = { 'x-svc-config': '{"provider":"@oai"}' };

describe('a running gateway', () => {
  let gateway: GatewayWithUpstream;
  beforeAll(async () => {
    gateway = await startGatewayWithUpstream({ env: { GATEWAY_PROCESSES: '2' } });
  });
  afterAll(() => gateway?.close());

  const call = (headers: Record<string, string>, key?: string) =>
    gateway.call('/chat/completions', {
      body,
      headers: { ...headers, connection: 'close', ...(key ? { 'x-svc-api-key': key } : {}) },
    });
  const statuses = async (headers: Record<string, string>, key?: string) =>
    Promise.all(Array.from({ length: 16 }, async () => (await call(headers, key)).status));
  const settle = (what: string, headers: Record<string, string>, status: number, key?: string) =>
    until(async () => (await statuses(headers, key)).every((one) => one === status), { what });
  const put = async (path: string, sent: Record<string, unknown>) => {
    const reply = await gateway.admin.put(path, sent as never);
    expect([reply.status, reply.body]).toEqual([200, {}]);
  };

  it('accepts inline configs until the organisation blocks them, and then saved ones only', async () => {
    expect((await call(inline)).status).toBe(200);
    await put('/organisations/self', { data_plane_security_settings: { block_inline_config: true } });
    await settle('inline configs are blocked everywhere', inline, 400);
    const before = gateway.upstream.requests.length;
    const reply = await call(inline);
    const message =
      'Inline configs are blocked. Save the config with POST /v1/configs and send its slug as x-svc-config. To allow inline use, ' +
      'set data_plane_security_settings.block_inline_config to false with PUT /v1/organisations/self';
    expect(await reply.json()).toEqual({
      status: 'failure',
      message,
      error: { code: 'inline_config_blocked', message, field: 'x-svc-config' },
    });
    expect(gateway.upstream.requests.length).toBe(before);
    const slug = await gateway.admin.createConfig({ provider: '@oai' });
    expect((await call({ 'x-svc-config': slug })).status).toBe(200);
    expect((await call({ 'x-svc-provider': '@oai' })).status).toBe(200);
    // The service's own store needs no settings or credentials.
    const own = { 'x-svc-provider': 'svc' };
    const listed = await gateway.call('/files', { headers: own });
    expect([listed.status, await listed.json()]).toMatchObject([200, { object: 'list', data: [] }]);
    const aimed = await gateway.call('/files', { headers: { ...own, 'x-svc-custom-host': 'https://example.com' } });
    expect([aimed.status, await aimed.json()]).toMatchObject([400, { error: { code: 'inline_custom_host_blocked' } }]);
    await put('/organisations/self', { data_plane_security_settings: { block_inline_config: false } });
    await settle('inline configs pass again everywhere', inline, 200);
  });

  it('blocks them for one workspace, if the organisation allows it', async () => {
    await put('/organisations/self', { override_settings: { data_plane: true } });
    await put('/workspaces/ws-default', { data_plane_security_settings: { block_inline_config: true } });
    await settle('inline configs are blocked for the workspace', inline, 400);
    await put('/workspaces/ws-default', { data_plane_security_settings: { block_inline_config: false } });
    await settle('inline configs pass in the workspace', inline, 200);
  });

  it('rejects the keys of a workspace when it is deleted', async () => {
    const made = await gateway.admin.post('/workspaces', { name: 'Short lived' });
    const key = await gateway.admin.post('/api-keys/workspace/service', {
      name: 'k',
      workspace_id: made.body.id,
      scopes: ['completions.write'],
    });
    const own = { 'x-svc-provider': 'openai', 'x-svc-custom-host': gateway.upstream.openaiHost, authorization: 'Bearer sk-own' };
    await settle('the key works everywhere', own, 200, key.body.key);
    const reply = await gateway.admin.call('DELETE', `/workspaces/${made.body.id}`, { name: 'Short lived', force_delete: true });
    expect(reply.status).toBe(200);
    await settle('the key is refused everywhere', own, 401, key.body.key);
  });
});

describe('a gateway with deployment settings', () => {
  it('blocks inline configs with any organisation setting', async () => {
    const gateway = await startLoneGateway({ BLOCK_INLINE_CONFIG: 'true' });
    try {
      gateway.putProvider('oai', 'openai', {});
      const reply = await gateway.call('/chat/completions', { body, headers: inline });
      expect([reply.status, await reply.json()]).toMatchObject([400, { error: { code: 'inline_config_blocked' } }]);
    } finally {
      await gateway.close();
    }
  });

  it('records the configured headers as metadata, below explicit metadata', async () => {
    const gateway = await shareGatewayWithUpstream('configured');
    const metadataOf = async (reply: Awaited<ReturnType<typeof gateway.call>>) => {
      const { metrics } = await gateway.logOf(reply);
      return Object.fromEntries(
        metrics['metadata.key'].map((key: string, index: number) => [key, metrics['metadata.value'][index]]),
      );
    };
    const headers = { 'x-svc-provider': '@oai', 'x-team': 'red', 'x-svc-metadata': '{"stage":"test"}' };
    const reply = await gateway.call('/chat/completions', { body, headers });
    expect(await metadataOf(reply)).toEqual({ 'header.x-team': 'red', stage: 'test' });
    const said = await gateway.call('/chat/completions', {
      body,
      headers: { ...headers, 'x-svc-metadata': '{"header.x-team":"blue"}' },
    });
    expect(await metadataOf(said)).toEqual({ 'header.x-team': 'blue' });
    await gateway.close();
  });
});
