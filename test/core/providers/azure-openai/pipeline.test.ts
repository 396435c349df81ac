import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import {
  chatReply,
  chatStream,
  createHarness,
  type Harness,
  providerDocument,
  replyWith,
  workspaceId,
} from '../../../../core/test-kit/pipeline-harness.ts';

const table = [
  {
    azure_deployment_name: 'gpt-4o-prod',
    azure_api_version: '2024-10-21',
    azure_model_slug: 'gpt-4o',
    alias: 'fast',
    is_default: true,
  },
  { azure_deployment_name: 'gpt-5-prod', azure_api_version: 'v1', azure_model_slug: 'gpt-5', alias: 'clever' },
];

function store(
  gateway: Harness,
  settings: JsonObject,
  secrets: JsonObject = { api_key: 'az-key' },
  provider = 'azure-openai',
): void {
  gateway.documents.set(`provider ${workspaceId}/east`, {
    ...providerDocument('east', provider),
    settings,
    secrets: JSON.stringify(secrets),
  });
}

const stored = { azure_auth_mode: 'default', azure_resource_name: 'contoso', azure_deployment_config: table };
const ask = (model: string, more: JsonObject = {}) => ({ model, messages: [{ role: 'user', content: 'hi' }], ...more });

describe('azure-openai through the pipeline', () => {
  it('serves a chat from the deployment of the alias, plain and streamed', async () => {
    const gateway = createHarness();
    store(gateway, stored);
    gateway.script(replyWith(200, chatReply('hello')));
    const plain = await gateway.send({ body: ask('@east/fast') });
    expect(plain.status).toBe(200);
    expect(plain.header('x-svc-provider')).toBe('azure-openai');
    gateway.script(chatStream(['hel', 'lo']));
    const streamed = await gateway.send({ body: ask('@east/clever', { stream: true }) });
    expect(streamed.text).toContain('"content":"lo"');
    expect(streamed.text).not.toContain('prompt_tokens');
    expect(gateway.calls.map((call) => `${call.origin}${call.path}`)).toEqual([
      'https://contoso.openai.azure.com/openai/deployments/gpt-4o-prod/chat/completions?api-version=2024-10-21',
      'https://contoso.openai.azure.com/openai/v1/chat/completions',
    ]);
    expect(JSON.parse(Buffer.from(gateway.calls[1]?.body as Uint8Array).toString()).model).toBe('gpt-5-prod');
    expect(gateway.calls[0]?.headers).toEqual(expect.arrayContaining(['api-key', 'az-key']));
    expect(gateway.records.map((record) => [record.model, record.inputTokens, record.outputTokens])).toEqual([
      ['fast', 3, 2],
      ['clever', 3, 2],
    ]);
  });

  it('serves a Messages call from the same deployment', async () => {
    const gateway = createHarness();
    store(gateway, stored);
    gateway.script(replyWith(200, chatReply('hello')));
    const body = { model: '@east/clever', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
    const reply = await gateway.send({ path: '/v1/messages', body });
    expect(reply.json).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'hello' }] });
    expect(gateway.calls[0]?.path).toBe('/openai/v1/chat/completions');
  });

  it('serves a text completion of a chat model by chat', async () => {
    const gateway = createHarness();
    store(gateway, stored);
    gateway.script(replyWith(200, chatReply('hello')));
    const reply = await gateway.send({ path: '/v1/completions', body: { model: '@east/clever', prompt: 'hi' } });
    expect(reply.json).toMatchObject({ object: 'text_completion', choices: [{ text: 'hello' }] });
    expect(gateway.calls[0]?.path).toBe('/openai/v1/chat/completions');
  });

  it('accepts an alias table from a config target, and the caller’s own key', async () => {
    const gateway = createHarness();
    const config = {
      provider: 'azure-openai',
      resource_name: 'mine',
      deployments: [{ deployment_id: 'd-1', alias: 'small', api_version: '2024-10-21' }],
    };
    const headers = { 'x-svc-config': JSON.stringify(config), authorization: 'Bearer own-key' };
    expect((await gateway.send({ headers, body: ask('small') })).status).toBe(200);
    expect(gateway.calls[0]?.path).toBe('/openai/deployments/d-1/chat/completions?api-version=2024-10-21');
    expect(gateway.calls[0]?.headers).toEqual(expect.arrayContaining(['api-key', 'own-key']));
    const refused = await gateway.send({ headers, body: ask('large') });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('No azure alias passed/default config found');
  });

  it('allows a request to choose deployment and version of a stored provider', async () => {
    const gateway = createHarness();
    store(gateway, stored);
    const headers = {
      'x-svc-provider': '@east',
      'x-svc-azure-deployment-id': 'other',
      'x-svc-azure-api-version': '2025-01-01-preview',
    };
    await gateway.send({ headers, body: ask('gpt-4o') });
    expect(gateway.calls[0]?.path).toBe('/openai/deployments/other/chat/completions?api-version=2025-01-01-preview');
  });
});

describe('a stored credential of Azure', () => {
  const moves: [string, Record<string, string>][] = [
    ['azure-openai', { 'x-svc-azure-resource-name': 'thief' }],
    ['azure-ai', { 'x-svc-azure-foundry-url': 'https://thief.example.com' }],
    ['azure-ai', { 'x-svc-azure-foundry-url': 'http://contoso.services.ai.azure.com' }],
  ];
  it.each(moves)('for %s is not sent to another host by %j', async (provider, header) => {
    const gateway = createHarness();
    const own = provider === 'azure-ai' ? { azure_foundry_url: 'https://contoso.services.ai.azure.com' } : stored;
    store(gateway, own, { api_key: 'az-key' }, provider);
    for (const path of ['/v1/chat/completions', '/v1/anything']) {
      const reply = await gateway.send({ path, headers: { 'x-svc-provider': '@east', ...header }, body: ask('fast') });
      expect(reply.status).toBe(400);
      expect(reply.text).toMatch(/sent to its own host only/);
    }
    expect(gateway.calls).toEqual([]);
  });

  it('is not sent to another host by a config target, and stays if the same host is named', async () => {
    const gateway = createHarness();
    store(gateway, stored);
    gateway.addConfig('pc-move', { provider: '@east', azure_resource_name: 'thief' });
    gateway.addConfig('pc-stay', { provider: '@east', azure_resource_name: 'contoso' });
    const send = async (config: string) =>
      (await gateway.send({ headers: { 'x-svc-config': config }, body: ask('fast') })).status;
    expect(await send('pc-move')).toBe(400);
    expect(await send('pc-stay')).toBe(200);
    expect(gateway.calls).toHaveLength(1);
  });

  it('in a config is not sent to a host from a header', async () => {
    const gateway = createHarness();
    gateway.addConfig('pc-key', {
      provider: 'azure-ai',
      api_key: 'saved',
      azure_foundry_url: 'https://contoso.services.ai.azure.com',
    });
    gateway.addConfig('pc-part', {
      provider: 'azure-ai',
      api_key: 'saved',
      azure_deployment_type: 'serverless',
      azure_deployment_name: 'mine',
      azure_region: 'eastus',
    });
    const headers = { 'x-svc-azure-foundry-url': 'https://thief.example.com' };
    await gateway.send({ headers: { ...headers, 'x-svc-config': 'pc-key' }, body: ask('Phi-4') });
    const reply = await gateway.send({ headers: { ...headers, 'x-svc-config': 'pc-part' }, body: ask('Phi-4') });
    expect(reply.status).toBe(400);
    expect(gateway.calls.map((call) => call.origin)).toEqual(['https://contoso.services.ai.azure.com']);
  });

  it('keeps its identity: requests cannot change it', async () => {
    const gateway = createHarness({ machineIdentity: true });
    store(gateway, stored);
    for (const header of ['azure-auth-mode:managed', 'azure-entra-tenant-id:other', 'azure-managed-client-id:other']) {
      const [name, value] = header.split(':') as [string, string];
      const headers = { 'x-svc-provider': '@east', [`x-svc-${name}`]: value };
      const reply = await gateway.send({ headers, body: ask('fast') });
      expect([name, reply.status]).toEqual([name, 400]);
      expect(reply.text).toContain(name.replaceAll('-', '_'));
    }
    expect(gateway.calls).toEqual([]);
  });
});

describe('the machine identity in azure-openai', () => {
  const managed = () => ({ ...stored, azure_auth_mode: 'managed', azure_managed_client_id: randomUUID() });

  it('is used for a stored provider if the deployment allows it', async () => {
    const gateway = createHarness({ machineIdentity: true });
    store(gateway, managed(), {});
    gateway.script(replyWith(200, { access_token: 'mi-token', expires_in: '3600' }), replyWith(200, chatReply('hello')));
    expect((await gateway.send({ body: ask('@east/fast') })).status).toBe(200);
    expect(gateway.calls.map((call) => [call.tenant, call.origin])).toEqual([
      ['svc-metadata', 'http://169.254.169.254'],
      [expect.not.stringContaining('svc-'), 'https://contoso.openai.azure.com'],
    ]);
    expect(gateway.calls[1]?.headers).toContain('Bearer mi-token');
  });

  it('is not used by default', async () => {
    const gateway = createHarness();
    store(gateway, managed(), {});
    const reply = await gateway.send({ body: ask('@east/fast') });
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('MACHINE_IDENTITY');
    expect(gateway.calls).toEqual([]);
  });

  it('is not used for a provider named by type, for any destination', async () => {
    const gateway = createHarness({ machineIdentity: true });
    const headers = {
      'x-svc-provider': 'azure-openai',
      'x-svc-azure-auth-mode': 'managed',
      'x-svc-custom-host': 'https://thief.example.com',
    };
    expect((await gateway.send({ headers, body: ask('fast') })).status).toBe(403);
    expect(gateway.calls).toEqual([]);
  });
});
