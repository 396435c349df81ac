import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, initialize, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { until } from '../../support/until.ts';

/** REST APIs as MCP servers, between a client and an API that records its requests. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
const received: { method?: string | undefined; url?: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
/** The response of the API. */
let response: { status?: number; headers?: Record<string, string>; body?: string | Uint8Array } = {};
const api = createServer(async (sent, reply) => {
  let body = '';
  for await (const chunk of sent) body += chunk;
  received.push({ method: sent.method, url: sent.url, headers: sent.headers, body });
  reply.writeHead(response.status ?? 200, { 'content-type': 'application/json', ...response.headers });
  reply.end(response.body ?? '{"ok":true}');
});

const text = { type: 'string' };
const paths = {
  '/pets': {
    get: { operationId: 'list', parameters: [{ name: 'tags', in: 'query', schema: { type: 'array', items: text } }] },
    post: {
      operationId: 'add',
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    },
  },
  '/pets/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
    get: {
      operationId: 'get',
      summary: 'Reads a pet',
      parameters: [
        { name: 'Authorization', in: 'header', schema: text },
        { name: 'X-Team', in: 'header', schema: text },
      ],
    },
    delete: { operationId: 'remove' },
  },
};
const document = (more: JsonObject = {}) => ({ openapi: '3.1.0', info: { title: 'Pets', version: '1' }, paths, ...more });

beforeAll(async () => {
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  gateway = await shareGateway();
  client = await mcpClient(gateway);
  await addApi('pets', ['list', 'add', 'get'], { headers: { authorization: 'Bearer of-the-integration', 'x-team': 'fixed' } });
});
afterAll(() => void api.close());

const baseUrl = () => `http://127.0.0.1:${(api.address() as AddressInfo).port}/v1`;
const addApi = (slug: string, operations: string[], configurations: JsonObject = {}) =>
  client.addServer(slug, baseUrl(), {
    ...{ transport: 'rest', auth_type: configurations.headers ? 'headers' : 'none' },
    configurations: { openapi: { document: document(), operations }, ...configurations },
  });
/** The reply to a message, and the requests that reached the API. */
async function send(slug: string, message: JsonObject, reply: typeof response = {}, headers: Record<string, string> = {}) {
  response = reply;
  received.length = 0;
  const { status, text: body } = await client.post(slug, message, headers);
  return { status, message: body === '' ? null : messageOf(body), sent: [...received] };
}

it('introduces itself, and lists the selected operations', async () => {
  expect((await send('pets', initialize)).message.result).toMatchObject({
    ...{ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'pets', title: 'Pets' } },
  });
  expect(await send('pets', { jsonrpc: '2.0', method: 'notifications/initialized' })).toMatchObject({
    status: 202,
    message: null,
  });
  const { tools } = (await send('pets', request('tools/list'))).message.result;
  expect(tools.map(({ name }: JsonObject) => name)).toEqual(['list', 'add', 'get']);
  expect(tools[2]).toMatchObject({
    description: 'Reads a pet',
    inputSchema: { required: ['id'], properties: { id: text, 'X-Team': text } },
  });
  expect((await send('pets', request('prompts/list'))).message.error).toMatchObject({ code: -32601 });
  const got = await fetch(client.urlOf('pets'), { headers: { 'x-svc-api-key': gateway.workspaceKey, 'mcp-session-id': 'x' } });
  expect(got.status).toBe(405);
});

it('sends arguments to the API with the credential of the integration, and its response to the client', async () => {
  const read = await send(
    'pets',
    callTool('get', { id: 'a/b?c', 'X-Team': 'other' }),
    {},
    { authorization: 'Bearer of-the-client' },
  );
  expect(read.message).toEqual({ jsonrpc: '2.0', id: 9, result: { content: [{ type: 'text', text: '{"ok":true}' }] } });
  expect(read.sent).toMatchObject([
    { method: 'GET', url: '/v1/pets/a%2Fb%3Fc', headers: { authorization: 'Bearer of-the-integration', 'x-team': 'fixed' } },
  ]);
  expect(read.sent[0]?.headers).not.toHaveProperty('x-svc-api-key');
  expect((await send('pets', callTool('list', { tags: ['a', 'b'] }))).sent).toMatchObject([{ url: '/v1/pets?tags=a&tags=b' }]);
  expect((await send('pets', callTool('add', { body: { name: 'Rex' } }))).sent).toMatchObject([
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"Rex"}' },
  ]);
});

describe('a call', () => {
  it.each<[string, JsonObject, number, string]>([
    ['an operation that is not selected', callTool('remove', { id: 'a' }), -32602, "Tool 'remove' not found"],
    [
      'an unknown argument',
      callTool('list', { Authorization: 'x' }),
      -32602,
      'arguments.Authorization: this tool has no such argument',
    ],
    ['a missing argument', callTool('get'), -32602, 'arguments.id: required'],
    [
      'arguments of another type',
      request('tools/call', { name: 'list', arguments: [] }),
      -32602,
      'arguments: an object is expected',
    ],
  ])('with %s is refused before the API is called', async (_, message, code, reason) => {
    const refused = await send('pets', message);
    expect(refused).toMatchObject({
      status: 200,
      sent: [],
      message: { error: { code, message: expect.stringContaining(reason) } },
    });
  });

  const binary = { headers: { 'content-type': 'application/zip' }, body: new Uint8Array([1, 2]) };
  it.each<[string, typeof response, string]>([
    ['an error', { status: 422, body: '{"reason":"no"}' }, 'The API replied with status 422'],
    ['a rejected credential', { status: 401, body: 'secret hint' }, 'The API rejected the credential of its integration (401)'],
    ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/' } }, 'The API replied with a redirect (302)'],
    ['binary content', binary, 'The API replied with binary content (application/zip, 2 bytes)'],
    ['a long text', { body: 'x'.repeat(1_048_577) }, 'The API replied with more than 1048576 bytes'],
    ['invalid UTF-8', { body: new Uint8Array([0xff]) }, 'The API replied with binary content'],
    ['text that ends inside a character', { body: new Uint8Array([0x61, 0xe4, 0xbd]) }, 'The API replied with binary content'],
  ])('with %s as response is an error of the tool', async (_, reply, reason) => {
    const { message } = await send('pets', callTool('list'), reply);
    expect(message.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(reason) }, ...(reply.status === 422 ? [{ text: '{"reason":"no"}' }] : [])],
    });
    expect(JSON.stringify(message)).not.toContain('secret hint');
  });

  it('returns images, text without a byte order mark, and nothing of an empty response', async () => {
    const image = { headers: { 'content-type': 'image/png' }, body: new Uint8Array([1]) };
    expect((await send('pets', callTool('list'), image)).message.result.content).toEqual([
      { type: 'image', data: 'AQ==', mimeType: 'image/png' },
    ]);
    const marked = { body: Buffer.from('\ufeff你好\ufeff') };
    expect((await send('pets', callTool('list'), marked)).message.result.content).toEqual([{ type: 'text', text: '你好\ufeff' }]);
    expect((await send('pets', callTool('list'), { status: 204, body: '' })).message.result).toEqual({
      content: [{ type: 'text', text: '' }],
    });
  });
});

it('leaves a record of each call', async () => {
  const recordOf = async (message: JsonObject, reply: typeof response) => {
    response = reply;
    const { headers } = await client.post('pets', message);
    const path = `/logs?trace_id=${headers.get('x-svc-trace-id')}&workspace_id=${gateway.workspaceId}`;
    return until(async () => (await gateway.admin.get(path)).body.data[0], { what: 'the record' });
  };
  const { id } = (await gateway.admin.get(`/mcp-integrations/pets-${client.workspaceSlug}`)).body;
  const mcp = {
    ...{ server: 'pets', integration_id: id, transport: 'rest', method: 'tools/call', auth_type: 'api_key' },
    ...{ upstream_auth_type: 'headers', error_code: null, is_tool_error: false, upstream_token_refreshed: false, via: null },
  };
  const done = await recordOf(callTool('list', { tags: ['dog'] }), { body: 'x'.repeat(400) });
  expect(done.mcp).toMatchObject({ ...mcp, name: 'list', server_id: expect.any(String) });
  expect(done.response.status).toBe(200);
  expect(done.metrics).toMatchObject({ api_key_id: expect.any(String), usage_source: 'estimate' });
  // A quarter of the bytes of the message, and of the reply.
  expect(done.metrics.res_units).toBe(Math.ceil(JSON.stringify(callTool('list', { tags: ['dog'] })).length / 4));
  expect(done.metrics.req_units).toBeGreaterThan(100);
  const failed = await recordOf(callTool('get', { id: 'a' }), { status: 500 });
  expect([failed.mcp.name, failed.mcp.is_tool_error, failed.response.status]).toEqual(['get', true, 200]);
  const refused = await recordOf(callTool('remove'), {});
  expect(refused.mcp).toMatchObject({ ...mcp, name: 'remove', error_code: -32602 });
});

it('applies flags, pins and guardrails', async () => {
  const { server, integration } = await addApi('guarded', ['list', 'get'], { tools: { pinned: true, blocked: ['list'] } });
  expect((await send('guarded', request('tools/list'))).message.result.tools).toEqual([]);
  expect((await send('guarded', callTool('get', { id: 'a' }))).message.error.message).toContain('quarantined');
  const approvals = `/mcp-integrations/${integration}/tool-approvals`;
  const { tool_set_hash } = (await gateway.admin.get(approvals)).body;
  await gateway.admin.put(approvals, { tool_set_hash });
  await until(async () => (await send('guarded', request('tools/list'))).message.result.tools.length === 1, {
    what: 'the approval',
  });
  expect((await send('guarded', callTool('list'))).message.error.message).toContain('disabled');
  const guardrail = await gateway.admin.create('/guardrails', {
    ...{ name: 'No secrets', workspace_id: gateway.workspaceId, target: 'mcp_tools', actions: { deny: true, async: false } },
    checks: [{ id: 'default.contains', parameters: { operator: 'none', words: ['secret'] } }],
  });
  const mapped = { mcp_servers: { [server]: { run_on: ['input', 'output'], mcp_integration_capability_ids: [] } } };
  expect((await gateway.admin.put(`/guardrails/${guardrail.id}/mcp-servers`, mapped)).status).toBe(200);
  await until(async () => (await send('guarded', callTool('get', { id: 'secret' }))).message.error?.code === -32446, {
    what: 'the guardrail',
  });
  expect(received).toEqual([]);
  const denied = await send('guarded', callTool('get', { id: 'a' }), { body: '{"a":"secret"}' });
  expect(denied).toMatchObject({ sent: [{ url: '/v1/pets/a' }], message: { error: { code: -32446 } } });
  expect(JSON.stringify(denied.message)).not.toContain('"a":');
});

it('is called once by a test, which reports a rejected credential', async () => {
  const { integration } = await addApi('tested', []);
  const test = async (status: number) => {
    response = { status };
    return (await gateway.admin.post(`/mcp-integrations/${integration}/test`, {})).body;
  };
  expect(await test(404)).toMatchObject({ success: true, status_code: 404 });
  expect(await test(401)).toMatchObject({ success: false, status_code: 401, error: 'The REST API replied with status 401' });
});
