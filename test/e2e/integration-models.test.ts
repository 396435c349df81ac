import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../support/processes/free-port.ts';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';
import { echo, reply, startFakeUpstream } from '../support/upstream/fake-upstream.ts';

let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream();
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] });
const ask = (model: string, provider = '@oai', path = '/chat/completions') =>
  gateway.call(path, { headers: { 'x-svc-provider': provider }, body: chat(model) });
const putModels = async (body: object) => {
  const reply = await gateway.admin.put(`/integrations/${gateway.admin.integrationOf('oai')}/models`, body as never);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
};

describe('models of an integration', () => {
  it('are rejected before any call while they are not enabled', async () => {
    await putModels({ models: [{ slug: 'good', enabled: true }], allow_all_models: false });
    await until(async () => (await ask('bad')).status === 412, { what: 'the refusal' });
    gateway.upstream.reset();
    const refused = await ask('bad');
    expect(refused.status).toBe(412);
    expect((await refused.json()).error).toMatchObject({
      message: 'Model bad is not allowed for this integration',
      type: 'model_not_allowed_error',
    });
    expect(gateway.upstream.requests).toHaveLength(0);
    expect((await ask('good')).status).toBe(200);
    await putModels({ models: [{ slug: 'bad', enabled: true }] });
    await until(async () => (await ask('bad')).status === 200, { what: 'the opened model' });
  });

  it('are rejected on pass-through routes too, and with every spelling of a body', async () => {
    await putModels({ models: [{ slug: 'bad', enabled: false }], allow_all_models: true });
    await until(async () => (await ask('bad')).status === 412, { what: 'the refusal' });
    gateway.upstream.reset();
    const headers = { 'x-svc-provider': '@oai', 'content-type': 'application/json' };
    const raw = (path: string, body: string) => gateway.call(path, { method: 'POST', headers, body });
    expect((await raw('/proxy/chat/completions', JSON.stringify(chat('bad')))).status).toBe(412);
    expect((await raw('/proxy/some/route', '{"model":"good","model":"bad"}')).status).toBe(412);
    expect((await raw('/proxy/models/bad:generateContent', '{}')).status).toBe(412);
    expect(gateway.upstream.requests).toHaveLength(0);
    // The provider reads the checked spelling: the second one is removed.
    expect((await raw('/chat/completions', '{"model":"bad","messages":[],"model":"good"}')).status).toBe(200);
    expect(gateway.upstream.last.body.toString()).not.toContain('bad');
  });

  it('cannot be reached by another name of a deployment', async () => {
    const { admin, upstream } = gateway;
    const row = { azure_deployment_name: 'dep', azure_api_version: '2024-10-21', azure_model_slug: 'gpt-4o', alias: 'four' };
    await admin.createUpstream('az', upstream.openaiHost, {
      ai_provider_id: 'azure-openai',
      configurations: {
        custom_host: upstream.openaiHost,
        azure_auth_mode: 'default',
        azure_resource_name: 'res',
        azure_deployment_config: [row],
      },
    });
    const models = [{ slug: 'gpt-4o', enabled: true }];
    const put = await admin.put(`/integrations/${gateway.admin.integrationOf('az')}/models`, {
      models,
      allow_all_models: false,
    } as never);
    expect(put.status, JSON.stringify(put.body)).toBe(200);
    await until(async () => (await ask('other', '@az')).status === 412, { what: 'the refusal' });
    upstream.always(echo());
    for (const model of ['gpt-4o', 'four', 'dep']) expect((await ask(model, '@az')).status).toBe(200);
    upstream.reset();
    const headers = { 'x-svc-provider': '@az', 'x-svc-azure-deployment-id': 'hidden' };
    expect((await gateway.call('/chat/completions', { headers, body: chat('four') })).status).toBe(400);
    const path = '/proxy/deployments/hidden/chat/completions';
    expect((await gateway.call(path, { headers: { 'x-svc-provider': '@az' }, body: { messages: [] } })).status).toBe(412);
    expect(upstream.requests).toHaveLength(0);
  });

  it('let a fallback continue with another provider', async () => {
    const key = await gateway.keyFor({
      strategy: { mode: 'fallback' },
      targets: [{ provider: '@oai' }, { provider: '@ant', override_params: { model: 'claude-3' } }],
    });
    const reply = await gateway.call('/chat/completions', {
      headers: { 'x-svc-api-key': key },
      body: { ...chat('bad'), max_tokens: 5 },
    });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('x-svc-last-used-option-index')).toBe('config.targets[1]');
  });

  it('have their own host and headers, with and without the credential of the integration', async () => {
    const { upstream } = gateway;
    await putModels({
      models: [
        {
          slug: 'mine',
          enabled: true,
          is_custom: true,
          base_model_slug: 'gpt-4o-mini',
          configurations: { custom_host: `${upstream.openaiHost}/elsewhere`, custom_headers: { 'X-Tenant': 'a' } },
        },
        { slug: 'keyed', enabled: true, is_custom: true, custom_headers: { Authorization: 'Bearer of-the-model-0123456789' } },
      ],
    });
    await until(
      async () => {
        await ask('mine');
        return upstream.last.path.includes('/elsewhere/');
      },
      { what: 'the other host' },
    );
    expect(upstream.last.header('x-tenant')).toBe('a');
    expect(upstream.last.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
    expect((await ask('keyed')).status).toBe(200);
    expect(upstream.last.path).not.toContain('/elsewhere/');
    expect(upstream.last.headerValues('authorization')).toEqual(['Bearer of-the-model-0123456789']);
    const read = (await gateway.admin.get(`/integrations/${gateway.admin.integrationOf('oai')}/models`)).body;
    const keyed = read.models.find((one: { slug: string }) => one.slug === 'keyed');
    expect(keyed.configurations.custom_headers).toEqual({ authorization: '****6789' });
  });

  it('get no credential of the integration on their own host, only their own', async () => {
    const other = await startFakeUpstream();
    try {
      other.always(echo());
      const configurations = { custom_host: other.openaiHost, custom_headers: { Authorization: 'Bearer of-the-other-host' } };
      await putModels({
        models: [
          { slug: 'away', enabled: true, configurations: { custom_host: other.openaiHost } },
          { slug: 'away-keyed', enabled: true, configurations },
        ],
      });
      await until(async () => (await ask('away')).status === 200 && other.requests.length > 0, { what: 'the other host' });
      expect((await ask('away-keyed')).status).toBe(200);
      expect(other.last.headerValues('authorization')).toEqual(['Bearer of-the-other-host']);
      expect(other.requests.map((request) => request.header('authorization')).join()).not.toContain(storedKeys.openai);
    } finally {
      await other.close();
    }
  });

  it('cost their saved price, times the factor of the integration', async () => {
    const config = { type: 'static', pay_as_you_go: { request_token: { price: 1_000 }, response_token: { price: 2_000 } } };
    await putModels({ models: [{ slug: 'priced', enabled: true, pricing_config: config }] });
    const adjustments = { multiplier: { default: 2, response_token: 3 } };
    expect(
      (await gateway.admin.put(`/integrations/${gateway.admin.integrationOf('oai')}`, { pricing_adjustments: adjustments }))
        .status,
    ).toBe(200);
    const log = await gateway.logOf(await ask('priced'));
    const { req_units: input, res_units: output, cost, price_source: source } = log.metrics;
    expect(input).toBeGreaterThan(0);
    expect(output).toBeGreaterThan(0);
    // 1,000 dollars a million tokens are 0.1 cents a token.
    expect(cost).toBeCloseTo(0.1 * input * 2 + 0.2 * output * 3, 8);
    expect(source).toBe('model');
    const unknown = await gateway.logOf(await ask('nobody-knows-this-model'));
    expect(unknown.metrics).toMatchObject({ cost: null, price_source: 'unknown' });
  });

  it('are listed by the workspace only if they are enabled', async () => {
    const list = await (await gateway.call('/models?provider=oai')).json();
    const slugs = list.data.map((one: { slug: string }) => one.slug);
    expect(slugs).toContain('mine');
    expect(slugs).not.toContain('bad');
  });

  it('are not reachable after the workspace has lost the integration', async () => {
    const body = { workspaces: [{ id: gateway.workspaceId, enabled: false }] };
    expect((await gateway.admin.put(`/integrations/${gateway.admin.integrationOf('oai')}/workspaces`, body)).status).toBe(200);
    await until(async () => (await ask('good')).status === 400, { what: 'the end of the access' });
    expect(
      (
        await gateway.admin.put(`/integrations/${gateway.admin.integrationOf('oai')}/workspaces`, {
          workspaces: [{ id: gateway.workspaceId, enabled: true }],
        })
      ).status,
    ).toBe(200);
  });
});

describe('the connection test', () => {
  const tried = (configurations: object, key: string | null = 'sk-tried-0123456789', type = 'openai') =>
    gateway.admin.post('/integrations/test', { ai_provider_id: type, key, configurations } as never);

  it('confirms a working stored account', async () => {
    const reply = await gateway.admin.post(`/integrations/${gateway.admin.integrationOf('oai')}/test`, {});
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    expect(reply.body).toEqual({
      ok: true,
      checks: [
        { field: 'configurations.custom_host', status: 'ok', message: 'the provider replied' },
        { field: 'key', status: 'ok', message: 'the provider accepts the credential' },
      ],
    });
    expect(gateway.upstream.last.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);
  });

  it('reports a closed port and a forbidden host', async () => {
    const [free] = await freePorts(1);
    const refused = await tried({ custom_host: `http://127.0.0.1:${free}/v1` });
    expect(refused.body).toMatchObject({ ok: false, checks: [{ field: 'configurations.custom_host', status: 'failed' }] });
    expect(refused.body.checks[0].message).toContain('refused');
    const closed = await tried({ custom_host: 'http://10.0.0.1/v1' });
    expect(closed.status).toBe(400);
    expect(closed.body.data.message).toContain('configurations.custom_host');
  });

  it('reports a web page in the place of the API', async () => {
    gateway.upstream.always(reply(200, '<html>hello</html>', { 'content-type': 'text/html; charset=utf-8' }));
    const { body } = await tried({ custom_host: gateway.upstream.openaiHost });
    const message = expect.stringContaining('a web page');
    expect(body).toEqual({ ok: false, checks: [{ field: 'configurations.custom_host', status: 'failed', message }] });
  });

  it('reports the rejected credential without repeating it', async () => {
    const body = { error: { message: 'Incorrect API key provided: sk-tried-0123456789', type: 'invalid_request_error' } };
    gateway.upstream.always(reply(401, JSON.stringify(body), { 'content-type': 'application/json' }));
    const response = await tried({ custom_host: gateway.upstream.openaiHost });
    expect(response.body.ok).toBe(false);
    expect(response.body.checks).toContainEqual(expect.objectContaining({ field: 'key', status: 'failed' }));
    expect(JSON.stringify(response.body)).not.toContain('0123456789');
  });

  it('is rejected for keys that may not change integrations, and gateways accept it only from the control plane', async () => {
    const { key } = await gateway.admin.createKey();
    const headers = { 'x-svc-api-key': key };
    const reply = await gateway.call(`/integrations/${gateway.admin.integrationOf('oai')}/test`, {
      method: 'POST',
      headers,
      body: {},
    });
    expect(reply.status).toBe(403);
    const direct = await fetch(`${gateway.origin}/internal/v1/connection-tests`, { method: 'POST', body: '{}' });
    expect(direct.status).toBe(404);
  });
});
