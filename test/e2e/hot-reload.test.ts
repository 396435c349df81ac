import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { openRawClient } from '../support/clients/raw-client.ts';
import {
  type SharedGatewayWithUpstream,
  shareGatewayWithUpstream,
  storedKeys,
} from '../support/product/gateway-with-upstream.ts';
import { until } from '../support/until.ts';
import { stallBeforeHead } from '../support/upstream/fake-upstream.ts';

/** Changes reach every gateway process while it runs: two of them share the port here. */
let gateway: SharedGatewayWithUpstream;
beforeAll(async () => {
  gateway = await shareGatewayWithUpstream('pair');
});
afterAll(() => gateway?.close());
afterEach(() => gateway?.upstream.reset());

const body = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'hello' }] };

interface Reply {
  readonly status: number;
  readonly trace: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  readonly body: any;
}

/**
 * One call on a connection of its own. The kernel spreads connections over the two processes by their source port, so twenty of
 * them meet both all but surely: one in a million times all twenty meet the same one.
 */
async function onFreshConnection(
  headers: Record<string, string>,
  params: JsonObject,
  path = '/chat/completions',
): Promise<Reply> {
  const client = await openRawClient(gateway.port);
  try {
    const text = JSON.stringify(params);
    const lines = Object.entries({
      host: 'a',
      'content-type': 'application/json',
      'content-length': String(text.length),
      ...headers,
    });
    client.send(`POST /v1${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`);
    const reply = await client.reply();
    return { status: reply.status, trace: reply.headers['x-svc-trace-id'] ?? '', body: JSON.parse(reply.body.toString()) };
  } finally {
    client.destroy();
  }
}

const everywhere = (headers: Record<string, string>, params: JsonObject = body, path = '/chat/completions') =>
  Promise.all(Array.from({ length: 20 }, () => onFreshConnection(headers, params, path)));

/** Asks until twenty connections in a row all see the new state, then once more: it must stay so. */
async function settles(
  what: string,
  headers: Record<string, string>,
  isNew: (reply: Reply) => boolean,
  params?: JsonObject,
  path?: string,
) {
  await until(async () => (await everywhere(headers, params, path)).every(isNew), { what });
  expect((await everywhere(headers, params, path)).every(isNew)).toBe(true);
}

it('hot reload: connections are spread over both processes', async () => {
  const headers = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': '@oai' };
  const replied = async () => {
    const page = await (await fetch(`${gateway.origin}/metrics`)).text();
    return new Set([...page.matchAll(/^\S*requests_total\{[^}]*process="(\d+)"[^}]*\} [1-9]/gm)].map((match) => match[1]));
  };
  await until(async () => {
    for (const reply of await everywhere(headers)) expect(reply.status).toBe(200);
    return (await replied()).size === 2;
  });
});

it('hot reload: a changed config applies', async () => {
  const { admin } = gateway;
  const slug = await admin.createConfig({ provider: '@oai', override_params: { user: 'first' } });
  const headers = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-config': slug };
  for (const reply of await everywhere(headers)) expect(reply.status).toBe(200);
  expect(gateway.upstream.last.json().user).toBe('first');

  const path = `/configs/${slug}?workspace_id=${gateway.workspaceId}`;
  expect((await admin.put(path, { config: { provider: '@ant' } })).status).toBe(200);
  await settles('the new target', headers, ({ body: { id } }) => id === 'msg_fake0001');
  expect((await admin.delete(path)).status).toBe(200);
  await settles('the end of the config', headers, ({ status }) => status === 400);
});

it('hot reload: a published version of a prompt and a changed partial apply', async () => {
  const { admin } = gateway;
  const partial = { name: 'name', workspace_id: gateway.workspaceId, string: '{{name}}' };
  const named = String((await admin.post('/prompts/partials', partial)).body.slug);
  const slug = await admin.createPrompt({ string: `one {{>${named}}}`, model: 'm', virtual_key: 'oai' });
  const headers = { 'x-svc-api-key': gateway.workspaceKey };
  const path = `/prompts/${slug}/render`;
  const variables = { variables: { name: 'Ann' } };
  const shows = (text: string) => (reply: Reply) => reply.body.data?.prompt === text;
  expect((await everywhere(headers, variables, path)).every(shows('one Ann'))).toBe(true);

  const workspace = { workspace_id: gateway.workspaceId };
  const update = { ...workspace, patch: true, string: `two {{>${named}}}` };
  expect((await admin.put(`/prompts/${slug}`, update)).status).toBe(200);
  expect((await everywhere(headers, variables, path)).every(shows('one Ann'))).toBe(true);
  expect((await admin.put(`/prompts/${slug}/makeDefault`, { ...workspace, version: 2 })).status).toBe(200);
  await settles('the published version', headers, shows('two Ann'), variables, path);

  expect((await admin.put(`/prompts/partials/${named}`, { ...workspace, string: '{{name}}!' })).status).toBe(200);
  expect((await admin.put(`/prompts/partials/${named}/makeDefault`, { ...workspace, version: 2 })).status).toBe(200);
  await settles('the changed partial', headers, shows('two Ann!'), variables, path);
  await settles('the old version by its number', headers, shows('one Ann!'), variables, `/prompts/${slug}@1/render`);
});

it('hot reload: a changed default config of a workspace applies', async () => {
  const { admin } = gateway;
  const made = await admin.post('/admin/workspaces', { name: 'with a default' });
  expect(made.status).toBe(200);
  const workspace = String(made.body.id);
  const integration = await admin.createIntegration({
    ai_provider_id: 'openai',
    key: 'sk-other',
    configurations: { custom_host: gateway.upstream.openaiHost },
    create_default_provider: false,
  });
  expect(
    (await admin.put(`/integrations/${integration}/workspaces`, { workspaces: [{ id: workspace, enabled: true }] })).status,
  ).toBe(200);
  await admin.createProvider({ slug: 'there', integration_id: integration, workspace_id: workspace });
  const { key } = await admin.createKey({ workspace_id: workspace });
  const headers = { 'x-svc-api-key': key };
  await settles(
    'nothing to go to',
    headers,
    ({ status, body: { error } }) => status === 400 && error.code === 'missing_provider',
  );
  const config = { name: 'd', workspace_id: workspace, config: { provider: '@there' }, is_default: 1 };
  expect((await admin.post('/configs', config)).status).toBe(200);
  await settles('the default config', headers, ({ status }) => status === 200);
});

it('hot reload: a new key works at once, its scopes follow, and it is rejected once deleted', async () => {
  const { admin } = gateway;
  const { id, key } = await admin.createKey();
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': '@oai' };
  for (const reply of await everywhere(headers)) expect(reply.status).toBe(200);
  expect((await admin.put(`/api-keys/${id}`, { scopes: ['logs.view'] })).status).toBe(200);
  await settles('the lost scope', headers, ({ status }) => status === 403);
  expect((await admin.delete(`/api-keys/${id}`)).status).toBe(200);
  await settles('the end of the key', headers, ({ status }) => status === 401);
});

it('hot reload: a changed credential, and a changed host, are used from then on', async () => {
  const { admin, upstream } = gateway;
  const headers = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-provider': '@oai' };
  await everywhere(headers);
  expect(upstream.last.header('authorization')).toBe(`Bearer ${storedKeys.openai}`);

  expect((await admin.put(`/integrations/${admin.integrationOf('oai')}`, { key: 'sk-renewed' })).status).toBe(200);
  await until(async () => {
    upstream.reset();
    await everywhere(headers);
    return upstream.requests.every((request) => request.header('authorization') === 'Bearer sk-renewed');
  });
  upstream.reset();
  await everywhere(headers);
  expect(new Set(upstream.requests.map((request) => request.header('authorization')))).toEqual(new Set(['Bearer sk-renewed']));

  const elsewhere = { configurations: { custom_host: `${upstream.origin}/other/v1` } };
  expect((await admin.put(`/integrations/${admin.integrationOf('oai')}`, elsewhere)).status).toBe(200);
  await until(async () => {
    upstream.reset();
    await everywhere(headers);
    return upstream.requests.every((request) => request.path === '/other/v1/chat/completions');
  });
  expect((await admin.put(`/integrations/${admin.integrationOf('oai')}`, { key: storedKeys.openai })).status).toBe(200);
});

it('hot reload: a request in flight ends under the config it began with', async () => {
  const { admin, upstream } = gateway;
  const slug = await admin.createConfig({ provider: '@ant' });
  const headers = { 'x-svc-api-key': gateway.workspaceKey, 'x-svc-config': slug };
  await everywhere(headers);
  const held = stallBeforeHead();
  upstream.once('/v1/messages', held);
  const running = onFreshConnection(headers, body);
  await held.reached;
  expect(
    (await admin.put(`/configs/${slug}?workspace_id=${gateway.workspaceId}`, { config: { provider: '@nobody' } })).status,
  ).toBe(400);
  expect((await admin.delete(`/configs/${slug}?workspace_id=${gateway.workspaceId}`)).status).toBe(200);
  await settles('the end of the config', headers, ({ status }) => status === 400);
  held.release();
  expect((await running).status).toBe(200);
});
