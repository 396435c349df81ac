import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { callTool, mcpClient, messageOf } from '../support/clients/mcp-client.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { type McpUpstream, startMcpUpstream } from '../support/tool-servers/mcp-upstream.ts';
import { until } from '../support/until.ts';
import { echo, startFakeUpstream } from '../support/upstream/fake-upstream.ts';

/** The contents of a customer's Vault, by path, and the token that opens it. */
const kept: Record<string, Record<string, string>> = {
  'secret/data/openai': { api_key: 'sk-kept-elsewhere-1', other: 'sk-kept-elsewhere-2' },
  'secret/data/renewed': { api_key: 'sk-kept-elsewhere-3' },
};
const token = 'hvs.planted-0123456789';

let gateway: SharedGatewayWithUpstream;
let vault: Server;
beforeAll(async () => {
  vault = createServer((request, reply) => {
    const data = kept[(request.url ?? '').slice('/v1/'.length)];
    const isOpen = request.headers['x-vault-token'] === token;
    const body = data && { data: { data, metadata: { version: 1, created_time: '2026-01-01T00:00:00Z' } } };
    reply.writeHead(isOpen ? (data ? 200 : 404) : 403).end(JSON.stringify(isOpen && body ? body : { errors: [] }));
  });
  await once(vault.listen(0, '127.0.0.1'), 'listening');
  gateway = await shareGatewayWithUpstream();
  const { admin, upstream } = gateway;
  const made = await admin.post('/secret-references', {
    name: 'Vault',
    slug: 'vault',
    manager_type: 'hashicorp_vault',
    auth_config: { vault_auth_type: 'token', vault_addr: address(), vault_token: token },
    secret_path: 'secret/data/openai',
    secret_key: 'api_key',
  });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  const key = await admin.post('/virtual-keys', {
    name: 'Kept',
    slug: 'kept',
    workspace_id: gateway.workspaceId,
    provider: 'openai',
    custom_host: upstream.openaiHost,
    secret_mappings: [{ target_field: 'key', secret_reference_id: 'vault' }],
  });
  expect(key.status, JSON.stringify(key.body)).toBe(200);
});
afterAll(async () => {
  await gateway?.close();
  vault?.close();
});
afterEach(() => gateway?.upstream.reset());

const address = () => `http://127.0.0.1:${(vault.address() as AddressInfo).port}`;
const chat = { model: '@kept/gpt-4o', messages: [{ role: 'user', content: 'hello' }] };
const ask = () => gateway.call('/chat/completions', { body: chat });
const put = async (body: object) => {
  const reply = await gateway.admin.put('/secret-references/vault', body as never);
  expect(reply.status, JSON.stringify(reply.body)).toBe(200);
};
/** Repeats the request until the provider is called with this credential. */
const settlesOn = (key: string) =>
  until(
    async () => {
      const { status } = await ask();
      return status === 200 && gateway.upstream.last.header('authorization') === `Bearer ${key}`;
    },
    { what: `calls with ${key}` },
  );

it('secret references: a call uses the value of the secret manager, and follows changes of the reference', async () => {
  expect((await ask()).status).toBe(200);
  expect(gateway.upstream.last.header('authorization')).toBe('Bearer sk-kept-elsewhere-1');
  await put({ secret_key: 'other' });
  await settlesOn('sk-kept-elsewhere-2');
  await put({ secret_path: 'secret/data/renewed', secret_key: null });
  await settlesOn('sk-kept-elsewhere-3');
});

it('secret references: the mapping of a virtual key takes precedence', async () => {
  await put({ secret_path: 'secret/data/openai', secret_key: 'api_key' });
  const secret_mappings = [{ target_field: 'key', secret_reference_id: 'vault', secret_key: 'other' }];
  const at = `/virtual-keys/kept?workspace_id=${gateway.workspaceId}`;
  expect((await gateway.admin.put(at, { secret_mappings })).status).toBe(200);
  await settlesOn('sk-kept-elsewhere-2');
});

it('secret references: a connection test reads the value too, and names the wrong mapping', async () => {
  const { body: key } = await gateway.admin.get(`/virtual-keys/kept?workspace_id=${gateway.workspaceId}`);
  const test = async () => (await gateway.admin.post(`/integrations/${key.integration_id}/test`, {})).body;
  expect(await test()).toMatchObject({ ok: true });
  expect(gateway.upstream.last.header('authorization')).toBe('Bearer sk-kept-elsewhere-2');
  await put({ secret_path: 'secret/data/nothing' });
  const { ok, checks } = await test();
  expect(ok).toBe(false);
  expect(checks).toContainEqual(expect.objectContaining({ field: 'secret_mappings[0]', status: 'failed' }));
  expect(JSON.stringify(checks)).not.toMatch(/planted|kept-elsewhere/);
});

it('secret references: an unreadable reference is a 503 that names it without its content', async () => {
  const refused = await until(
    async () => {
      const reply = await ask();
      return reply.status === 503 && reply;
    },
    { what: 'the refusal' },
  );
  const text = await refused.text();
  expect(JSON.parse(text).error.code).toBe('secret_unavailable');
  expect(text).toContain('vault');
  expect(text).not.toMatch(/planted|kept-elsewhere|secret\/data/);
});

it('secret references: a workspace without access has no provider', async () => {
  const other = await gateway.admin.post('/admin/workspaces', { name: 'Other' });
  await put({ secret_path: 'secret/data/openai', allowed_workspaces: [String(other.body.id)] });
  await until(async () => (await ask()).status === 400, { what: 'the refusal' });
  await put({ allow_all_workspaces: true });
  await settlesOn('sk-kept-elsewhere-2');
});

it('secret references: mapped values are not sent to a model’s own host, and are in no record or log', async () => {
  const elsewhere = await startFakeUpstream();
  try {
    elsewhere.always(echo());
    const { body: key } = await gateway.admin.get(`/virtual-keys/kept?workspace_id=${gateway.workspaceId}`);
    const models = [{ slug: 'gpt-4o', enabled: true, configurations: { custom_host: elsewhere.openaiHost } }];
    const response = await gateway.admin.put(`/integrations/${key.integration_id}/models`, { models } as never);
    expect(response.status, JSON.stringify(response.body)).toBe(200);
    await until(
      async () => {
        await ask();
        return elsewhere.requests.length > 0;
      },
      { what: 'a call at the host of the model' },
    );
    expect(elsewhere.requests.map((one) => one.header('authorization')).join()).not.toContain('kept-elsewhere');
    const reply = await ask();
    expect(JSON.stringify(await gateway.logOf(reply))).not.toMatch(/planted|kept-elsewhere/);
  } finally {
    await elsewhere.close();
  }
});

describe('secret references: headers of MCP servers', () => {
  const credentials = ['Bearer kept-elsewhere-mcp-1', 'Bearer kept-elsewhere-mcp-2'] as const;
  let server: McpUpstream;
  let client: Awaited<ReturnType<typeof mcpClient>>;
  /** The credential that the server accepts. */
  let accepted: string = credentials[0];
  beforeAll(async () => {
    kept['secret/data/mcp'] = { token: accepted, group: JSON.stringify({ 'X-Team': 'kept-elsewhere-team' }), bad: 'two\nlines' };
    const authorise = async ({ headers }: { headers: { authorization?: string | undefined } }) =>
      headers.authorization === accepted ? null : 'Bearer';
    server = await startMcpUpstream({ showsCredential: true, authorise });
    client = await mcpClient(gateway);
    const { admin } = gateway;
    await admin.create('/secret-references', {
      ...{ name: 'MCP', slug: 'mcp', manager_type: 'hashicorp_vault', secret_path: 'secret/data/mcp' },
      auth_config: { vault_auth_type: 'token', vault_addr: address(), vault_token: token },
    });
  });
  afterAll(() => server?.close());

  const map = (target_field: string, secret_key: string, more: object = {}) => ({
    ...{ target_field: `configurations.${target_field}`, secret_reference_id: 'mcp', secret_key },
    ...more,
  });
  const mapped = {
    auth_type: 'headers',
    secret_mappings: [map('headers.authorization', 'token'), map('passthrough_headers', 'group', { value_format: 'json' })],
  };
  const call = (slug: string) => client.post(slug, callTool('credential'));

  it('are sent with every call, and a test uses them too', async () => {
    const { integration } = await client.addServer('mapped', server.url, mapped);
    const { status, text } = await call('mapped');
    expect(status, text).toBe(200);
    expect(messageOf(text).result.content).toEqual([{ type: 'text', text: accepted }]);
    expect(server.received.every(({ headers }) => headers['x-team'] === 'kept-elsewhere-team')).toBe(true);
    const tested = await gateway.admin.post(`/mcp-integrations/${integration}/test`, {});
    expect(tested.body).toMatchObject({ success: true });
  });

  it('are read again once when the server rejects them', async () => {
    const [before, after] = credentials;
    kept['secret/data/mcp'] = { ...kept['secret/data/mcp'], token: after };
    accepted = after;
    server.received.length = 0;
    // Several gateway processes serve the calls. The one of the first call has the previous value.
    const again = await until(
      async () => {
        const reply = await call('mapped');
        expect(reply.status, reply.text).toBe(200);
        return server.received.some(({ headers }) => headers.authorization === before) && reply;
      },
      { what: 'a call with the previous value' },
    );
    expect(messageOf(again.text).result.content).toEqual([{ type: 'text', text: after }]);
    const log = await gateway.logOf(again.headers.get('x-svc-trace-id') as string);
    expect(log.mcp.upstream_token_refreshed).toBe(true);
  });

  it('are in no reply and no log if the server rejects them', async () => {
    accepted = 'none';
    const { status, text, headers } = await call('mapped');
    expect(status).toBe(502);
    expect(text).toContain('401');
    const log = await gateway.logOf(headers.get('x-svc-trace-id') as string);
    expect(log.response.status).toBe(502);
    expect(`${text}${JSON.stringify(log)}`).not.toMatch(/planted|kept-elsewhere/);
  });

  it.each<[string, object]>([
    ['has no such value', map('headers.authorization', 'nothing')],
    ['is no header', map('headers.authorization', 'bad')],
    ['is no group of headers', map('headers', 'bad', { value_format: 'json' })],
  ])('are required: a call is a 503 that names the reference if its value %s', async (name, mapping) => {
    const slug = name.replaceAll(' ', '-');
    await client.addServer(slug, server.url, { auth_type: 'headers', secret_mappings: [mapping] });
    server.received.length = 0;
    const { status, text } = await call(slug);
    expect(status, text).toBe(503);
    expect(text).toMatch(/secret reference mcp/);
    expect(text).not.toMatch(/planted|kept-elsewhere|two|secret\/data/);
    expect(server.received).toEqual([]);
  });
});
