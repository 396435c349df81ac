import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { startGateway } from '../support/product/start-gateway.ts';
import { until } from '../support/until.ts';
import { openaiError } from '../support/upstream/fake-upstream.ts';

/** Third-party plugins, named in the PLUGINS of the shared product and enabled by a config. */
const example = 'config/examples/plugins/required-metadata.mjs';

let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream('configured');
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
const call = (config: JsonObject | string, headers: Record<string, string> = {}, more: JsonObject = {}) =>
  gateway.call('/chat/completions', {
    body: { ...body, ...more },
    headers: { 'x-svc-config': typeof config === 'string' ? config : JSON.stringify(config), ...headers },
  });

describe('the example plugin', () => {
  it('is the one in plugins/README.md', () => {
    const readme = readFileSync('plugins/README.md', 'utf8');
    expect(readme).toContain(`\`\`\`js\n${readFileSync(example, 'utf8')}\`\`\`\n`);
  });

  const config = { provider: '@oai', plugins: { 'required-metadata': { keys: ['team', 'stage'] } } };

  it('does nothing for a config that does not name it', async () => {
    const response = await call({ provider: '@oai' });
    expect([response.status, response.headers.get('x-svc-team')]).toEqual([200, null]);
  });

  it('rejects with its own message before the provider is called, and the rejection is recorded', async () => {
    const response = await call(config, { 'x-svc-metadata': '{"team":"red"}' });
    expect([response.status, (await response.json()).error]).toMatchObject([400, { code: 'missing_metadata' }]);
    expect(gateway.upstream.requests).toHaveLength(0);
    const log = await gateway.logOf(response);
    expect([log.outcome, log.metrics.response_status_code]).toEqual(['refused', 400]);
  });

  it('adds to the reply, plain and streamed, and its onEnd runs for every request', async () => {
    const slug = await gateway.admin.createConfig(config);
    for (const stream of [false, true]) {
      const response = await call(slug, { 'x-svc-metadata': '{"team":"red","stage":"test"}' }, { stream });
      expect([response.status, response.headers.get('x-svc-team')]).toEqual([200, 'red']);
      await response.arrayBuffer();
    }
    const lines = await until(() => {
      const found = gateway.output().match(/^.*"config":"pc-.*"counted".*$/gm) ?? [];
      return found.length === 2 && found.map((line) => JSON.parse(line));
    });
    expect(lines).toMatchObject([
      { config: slug, team: 'red', outcome: 'success', requests: 1 },
      { config: slug, team: 'red', outcome: 'success', requests: 2 },
    ]);
  });

  it('is validated when a config is saved: its settings, and whether it is installed', async () => {
    const save = async (plugins: JsonObject) => {
      const reply = await fetch(`${gateway.baseUrl}/configs`, {
        method: 'POST',
        headers: { 'x-svc-api-key': gateway.adminKey, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'checked', workspace_id: gateway.workspaceId, config: { provider: '@oai', plugins } }),
      });
      return [reply.status, await reply.text()];
    };
    expect(await save({ 'required-metadata': { keys: ['team'] } })).toEqual([200, expect.anything()]);
    expect(await save({ 'required-metadata': { keys: [''] } })).toEqual([
      400,
      expect.stringContaining('plugins.required-metadata.keys[0]:'),
    ]);
    expect(await save({ nobody: {} })).toEqual([
      400,
      expect.stringContaining('plugins.nobody: no plugin of this name is installed'),
    ]);
  });

  it('has its settings validated by its own schema, with the path', async () => {
    const response = await call({ ...config, plugins: { 'required-metadata': { keys: ['team', ''], more: 1 } } });
    const { errors } = await response.json();
    expect(response.status).toBe(400);
    expect(errors.join('\n')).toContain('plugins.required-metadata.keys[1]:');
    expect(errors.join('\n')).toContain('plugins.required-metadata.more:');
  });
});

describe('GET /plugins/loaded', () => {
  const list = (key: string) => fetch(`${gateway.baseUrl}/plugins/loaded`, { headers: { 'x-svc-api-key': key } });

  it('lists names, versions and hooks', async () => {
    const reply = await list(gateway.adminKey);
    const hooks = ['onRequest', 'onEnd'];
    const first = { name: 'required-metadata', package: null, version: null, api_version: 1, stage: 'limits', hooks, checks: [] };
    expect([reply.status, await reply.json()]).toMatchObject([
      200,
      {
        object: 'list',
        total: 4,
        data: [
          first,
          { name: 'throwing' },
          { name: 'odd' },
          { name: 'allowed-topics', stage: null, checks: [{ id: 'allowed-topics.keywords' }] },
        ],
      },
    ]);
  });

  it('needs an organisation key', async () => {
    expect([(await list(gateway.workspaceKey)).status, (await list('none')).status]).toEqual([403, 401]);
  });
});

describe('the example provider', () => {
  const settings = ['custom_host', 'acme_ai_project'];

  it('is in the list of what is loaded, and in the line at start', async () => {
    const reply = await fetch(`${gateway.baseUrl}/plugins/loaded`, { headers: { 'x-svc-api-key': gateway.adminKey } });
    const { providers } = (await reply.json()) as { providers: unknown[] };
    expect(providers).toMatchObject([{ id: 'acme-ai', aliases: [], package: null, version: null }]);
    expect(providers).toMatchObject([{ settings: expect.arrayContaining(settings) }]);
    expect(gateway.output()).toContain('"providers":["acme-ai"]');
  });

  it('is stored with its settings, and called with them', async () => {
    const { admin, upstream } = gateway;
    const stored = (acme_ai_project: string) => ({
      ai_provider_id: 'acme-ai',
      key: 'acme-key',
      configurations: { custom_host: `${upstream.origin}/v1`, acme_ai_project },
    });
    await expect(admin.createUpstream('bad', upstream.openaiHost, stored('not a project'))).rejects.toThrow('acme_ai_project');
    await admin.createUpstream('acme', upstream.openaiHost, stored('my-project'));
    expect((await call({ provider: '@acme' })).status).toBe(200);
    const { last } = upstream;
    expect([last.header('x-project'), last.header('authorization')]).toEqual(['my-project', 'Bearer acme-key']);
  });

  it('has its settings validated in configs', async () => {
    const response = await call({ provider: '@oai', acme_ai_project: 'not a project' });
    expect(response.status).toBe(200);
    const own = await call({ provider: 'acme-ai', api_key: 'k', acme_ai_project: 'not a project' });
    expect([own.status, await own.text()]).toEqual([400, expect.stringContaining('acme_ai_project')]);
  });
});

describe('a check of a plugin', () => {
  const admin = (path: string, body?: JsonObject) =>
    fetch(`${gateway.baseUrl}${path}`, {
      ...(body ? { method: 'POST', body: JSON.stringify({ workspace_id: gateway.workspaceId, ...body }) } : {}),
      headers: { 'x-svc-api-key': gateway.adminKey, 'content-type': 'application/json' },
    });
  const guardrail = (parameters: JsonObject) => ({
    name: 'topics',
    checks: [{ id: 'allowed-topics.keywords', parameters }],
    actions: { deny: true },
  });

  it('is in the list of checks with the JSON Schema of its parameters', async () => {
    const reply = await admin('/guardrails/checks');
    const { data } = (await reply.json()) as { data: { id: string }[] };
    expect(data.find(({ id }) => id === 'allowed-topics.keywords')).toMatchObject({
      about: 'Passes texts that contain at least one of the topics.',
      sides: ['input', 'output'],
      parameters: { type: 'object', required: ['topics'], properties: { topics: { type: 'array', minItems: 1 } } },
    });
  });

  it('is validated when a guardrail or a config is saved', async () => {
    const wrong = await admin('/guardrails', guardrail({ topics: [] }));
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringMatching(/checks\[0\]\.parameters\.topics: /)]);
    const config = { provider: '@oai', input_guardrails: [{ 'allowed-topics.keywords': {} }] };
    const saved = await admin('/configs', { name: 'topics', config });
    expect([saved.status, await saved.text()]).toEqual([400, expect.stringMatching(/allowed-topics\.keywords\.topics: /)]);
  });

  it('denies requests through a saved guardrail', async () => {
    const saved = await admin('/guardrails', guardrail({ topics: ['billing'] }));
    const text = await saved.text();
    expect([saved.status, text]).toEqual([200, expect.anything()]);
    const { slug } = JSON.parse(text);
    const config = { provider: '@oai', input_guardrails: [slug] };
    expect((await call(config)).status).toBe(446);
    const about = { messages: [{ role: 'user', content: 'about billing' }] };
    const allowed = await call(config, {}, about);
    expect(allowed.status).toBe(200);
    const [check] = (await gateway.logOf(allowed)).guardrails[0].checks;
    expect(check).toEqual({
      id: 'allowed-topics.keywords',
      verdict: true,
      error: null,
      failedOpen: false,
      durationMs: expect.any(Number),
    });
  });
});

describe('a plugin that throws', () => {
  const withHook = (hook: string, more: JsonObject = {}) => ({ provider: '@oai', plugins: { throwing: { hook } }, ...more });

  it.each(['onRequest', 'onAttempt', 'onReply', 'onChunk'])(
    'in %s ends its request with 500 without the reason',
    async (hook) => {
      const pids = gateway.pidsOf('gateway');
      const response = await call(withHook(hook));
      const text = await response.text();
      expect([response.status, text]).toEqual([500, expect.stringContaining('Something went wrong')]);
      expect(text).not.toContain('any better');
      expect((await gateway.logOf(response)).error.code).toBe('internal');
      expect((await call({ provider: '@oai' })).status).toBe(200);
      expect(gateway.pidsOf('gateway')).toEqual(pids);
    },
  );

  it.each(['onReply', 'onChunk'])('in %s of a stream ends that stream and nothing else', async (hook) => {
    const response = await call(withHook(hook), {}, { stream: true });
    expect(await response.text()).not.toContain('[DONE]');
    const log = await gateway.logOf(response);
    expect(log.outcome).not.toBe('success');
    expect((await call({ provider: '@oai' })).status).toBe(200);
  });

  it('in onError leaves the original error to the client', async () => {
    const response = await call(withHook('onError', { custom_host: 'http://10.0.0.1' }));
    expect([response.status, (await response.json()).error.code]).toEqual([400, 'invalid_custom_host']);
    gateway.upstream.once('/v1/chat/completions', openaiError(503, 'its own words'));
    expect((await call(withHook('onError'))).status).toBe(503);
  });

  it('in onEnd affects neither the reply nor the record', async () => {
    const response = await call(withHook('onEnd'));
    expect([response.status, (await response.json()).object]).toEqual([200, 'chat.completion']);
    expect((await gateway.logOf(response)).outcome).toBe('success');
  });
});

describe('a plugin that breaks its contract', () => {
  const does = (thing: string, stream = false) => call({ provider: '@oai', plugins: { odd: { does: thing } } }, {}, { stream });

  it.each(['malformed', 'number headers', 'hangs in onRequest', 'hangs in onReply', 'async onChunk'])(
    '%s: a 500 that names it, and the process continues',
    async (thing) => {
      const pids = gateway.pidsOf('gateway');
      for (const stream of [false, true]) {
        const response = await does(thing, stream);
        expect([response.status, (await response.json()).error.message]).toEqual([500, 'Something went wrong in the plugin odd']);
        expect((await gateway.logOf(response)).metrics.response_status_code).toBe(500);
      }
      expect(gateway.pidsOf('gateway')).toEqual(pids);
      expect(gateway.output()).toContain('plugin odd, on');
    },
  );

  it('by dropping chunks: no part of a plain reply or a stream is sent', async () => {
    for (const stream of [false, true]) expect(await (await does('drops chunks', stream)).text()).toBe('');
  });

  it('with the GatewayError of its import: the request is rejected with its status', async () => {
    const response = await does('refuses');
    expect([response.status, (await response.json()).message]).toEqual([403, expect.stringContaining('not with this config')]);
  });

  it('by reading the environment: there are no keys in it', async () => {
    expect(await (await does('reads the environment')).json()).toEqual([null, null]);
  });
});

it('plugins: the gateway logs the loaded ones in one line', () => {
  const lines = gateway.output().match(/^.*"plugins loaded".*$/gm) ?? [];
  expect(JSON.parse(lines[0] ?? '{}')).toMatchObject({
    plugins: ['required-metadata (limits)', 'throwing (output-guardrails)', 'odd (output-guardrails)', 'allowed-topics'],
    checks: ['allowed-topics.keywords'],
  });
});

it('plugins: the gateway does not start with one that cannot be loaded, and names it', async () => {
  const key = () => randomBytes(32).toString('base64');
  const machine = { ROLE: 'gateway', CONTROL_PLANE_URL: gateway.controlPlaneUrl, ENCRYPTION_KEY: key(), CLUSTER_KEY: key() };
  const failure = await startGateway({ env: { ...machine, PLUGINS: './no-such-plugin.mjs' } }).then(
    async (running) => {
      await running.stop();
      return null;
    },
    (error: Error) => error.message,
  );
  expect(failure).toContain('PLUGINS: ./no-such-plugin.mjs cannot be loaded');
});
