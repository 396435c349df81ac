import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, type Progress, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { echo, initialize, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

/** The MCP gateway between the client and the server of the official SDK. */
let gateway: SharedGateway;
let upstream: McpUpstream;
let client: Awaited<ReturnType<typeof mcpClient>>;
let workspaceSlug: string;
const urlOf = (slug: string) => client.urlOf(slug);
const addServer = (slug: string, url: string, fields?: JsonObject) => client.addServer(slug, url, fields);
const post = (slug: string, body: unknown, headers?: Record<string, string>) => client.post(slug, body, headers);

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startMcpUpstream()]);
  client = await mcpClient(gateway);
  workspaceSlug = client.workspaceSlug;
  await addServer('sample', upstream.url);
});
afterAll(async () => {
  await upstream?.close();
});

async function connect(slug: string, options: { capabilities?: JsonObject; key?: string } = {}) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: options.capabilities ?? {} });
  const transport = new StreamableHTTPClientTransport(new URL(urlOf(slug)), {
    requestInit: { headers: { 'x-svc-api-key': options.key ?? gateway.workspaceKey } },
  });
  return { client, transport, open: () => client.connect(transport as Parameters<Client['connect']>[0]) };
}

describe('the client of the official SDK', () => {
  it('lists and calls tools, reads resources and prompts, and completes arguments', async () => {
    const { client, open } = await connect('sample');
    await open();
    expect(client.getServerVersion()).toMatchObject({ name: 'sample', version: '1.2.3' });
    expect(client.getInstructions()).toBe('Use the tools.');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'add', 'fail', 'progress', 'ask', 'choose']);
    const echoed = await client.callTool({ name: 'echo', arguments: { text: 'grüß dich' } });
    expect(echoed.content).toEqual([{ type: 'text', text: 'grüß dich' }]);
    expect((await client.callTool({ name: 'fail' })).isError).toBe(true);
    const prompt = await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
    expect(prompt.messages[0]?.content).toEqual({ type: 'text', text: 'Say hi to Ada' });
    expect((await client.readResource({ uri: 'file:///readme.md' })).contents[0]).toMatchObject({ text: '# Read me' });
    const ref = { type: 'ref/resource' as const, uri: 'file:///logs/{day}' };
    const completed = await client.complete({ ref, argument: { name: 'day', value: 'm' } });
    expect(completed.completion.values).toEqual(['monday', 'tuesday']);
    await client.close();
  });

  it('receives progress, list changes and sampling requests', async () => {
    const { client, transport, open } = await connect('sample', { capabilities: { sampling: {} } });
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      ...{ role: 'assistant' as const, model: 'm' },
      content: { type: 'text' as const, text: 'a small one' },
    }));
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changes++);
    await open();
    const seen: Progress[] = [];
    await client.callTool({ name: 'progress' }, undefined, { onprogress: (one) => void seen.push(one) });
    expect(seen.map(({ progress }) => progress)).toEqual([1, 2]);
    // The question goes over the stream of the session, which the client opens without waiting for it.
    await until(() => upstream.received.some(({ method }) => method === 'GET'), { what: 'the stream of the session' });
    const asked = await client.callTool({ name: 'ask' });
    expect(asked.content).toEqual([{ type: 'text', text: 'the client said a small one' }]);
    upstream.addTool('later');
    await until(() => changes > 0, { what: 'a notice of the changed list' });
    const open0 = upstream.sessions.size;
    await transport.terminateSession();
    expect(upstream.sessions.size).toBe(open0 - 1);
    await client.close();
  });

  it('is recorded, one record for each call', async () => {
    const sent = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'fail', arguments: {} } };
    const begun = await post('sample', initialize);
    const session = begun.headers.get('mcp-session-id') as string;
    const reply = await post('sample', sent, { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' });
    expect(messageOf(reply.text)).toMatchObject({ id: 7, result: { isError: true } });
    const trace = reply.headers.get('x-svc-trace-id');
    const log = await until(
      async () => (await gateway.admin.get(`/logs?trace_id=${trace}&workspace_id=${gateway.workspaceId}`)).body.data[0],
      { what: 'a log of the call' },
    );
    expect(log.mcp).toMatchObject({
      ...{ server: 'sample', transport: 'http', method: 'tools/call', name: 'fail', revision: '2025-11-25' },
      ...{ auth_type: 'api_key', upstream_auth_type: 'none', error_code: null, is_tool_error: true },
    });
  });
});

describe('a request to an MCP server', () => {
  it('without credentials is refused with the address of the metadata', async () => {
    const reply = await fetch(urlOf('sample'), { method: 'POST', body: JSON.stringify(initialize) });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toMatch(
      new RegExp(
        `^Bearer scope="mcp.invoke", resource_metadata="http://.*/.well-known/oauth-protected-resource/${workspaceSlug}/sample/mcp"$`,
      ),
    );
    expect(await reply.json()).toMatchObject({ error: 'unauthorized' });
  });

  it('counts once in the rate limit of its key, also if it calls a tool', async () => {
    const rate_limits = [{ type: 'requests', unit: 'rpd', value: 3 }];
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'], rate_limits });
    const begun = await post('sample', initialize, { 'x-svc-api-key': key });
    const session = begun.headers.get('mcp-session-id') as string;
    const headers = { 'x-svc-api-key': key, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    const call = async () => (await post('sample', echo('hi'), headers)).status;
    expect([begun.status, await call(), await call(), await call()]).toEqual([200, 200, 200, 429]);
  });

  it('needs mcp.invoke, the workspace of its key and a server that exists', async () => {
    const { key } = await gateway.admin.createKey({ scopes: ['completions.write'] });
    expect((await post('sample', initialize, { 'x-svc-api-key': key })).status).toBe(403);
    const bearer = await fetch(urlOf('sample'), {
      ...{ method: 'POST', body: JSON.stringify(initialize) },
      headers: { authorization: `Bearer ${key}` },
    });
    expect([bearer.status, bearer.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringMatching(/^Bearer error="insufficient_scope", scope="mcp.invoke", resource_metadata="http.*sample\/mcp"$/),
    ]);
    const elsewhere = await post('/other/sample/mcp', initialize);
    expect([elsewhere.status, JSON.parse(elsewhere.text).error]).toEqual([403, 'forbidden']);
    const unknown = await post('/unknown/mcp', initialize);
    expect([unknown.status, JSON.parse(unknown.text)]).toEqual([
      404,
      { error: 'not_found', error_description: "Server 'unknown' not found" },
    ]);
    expect((await post('/sample/mcp', initialize)).status).toBe(200);
  });
});

describe('the revision 2026-07-28', () => {
  const meta = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
  const call = request('tools/call', { name: 'tool-ü', arguments: {}, ...meta });
  const routing = {
    ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' },
    'mcp-name': `=?base64?${Buffer.from('tool-ü').toString('base64')}?=`,
  };

  it('passes one exchange per call, with its routing headers', async () => {
    const stateless = await startMcpUpstream();
    stateless.override = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","id":9,"result":{"resultType":"complete","content":[]}}');
    };
    await addServer('stateless', stateless.url);
    const reply = await post('stateless', call, { ...routing, 'mcp-param-region': 'eu' });
    expect([reply.status, messageOf(reply.text).result.resultType]).toEqual([200, 'complete']);
    expect(stateless.received).toMatchObject([{ headers: { ...routing, 'mcp-param-region': 'eu' } }]);
    await stateless.close();
  });

  it('passes notices of a subscription as they arrive', async () => {
    const stateless = await startMcpUpstream();
    await addServer('listened', stateless.url);
    let notify = (_: string) => {};
    stateless.override = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      notify = (method) => void response.write(`data: {"jsonrpc":"2.0","method":"${method}"}\n\n`);
      notify('notifications/subscriptions/acknowledged');
    };
    const listen = { ...request('subscriptions/listen', meta), id: 1 };
    const gone = new AbortController();
    const reply = await fetch(urlOf('listened'), {
      method: 'POST',
      headers: {
        ...{ accept: 'application/json, text/event-stream', 'x-svc-api-key': gateway.workspaceKey },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      },
      body: JSON.stringify(listen),
      signal: gone.signal,
    });
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => Buffer.from((await reader.read()).value ?? []).toString();
    expect(await next()).toContain('acknowledged');
    notify('notifications/tools/list_changed');
    expect(await next()).toContain('list_changed');
    gone.abort();
    await stateless.close();
  });

  it.each([
    ['another method', { 'mcp-method': 'tools/list' }],
    ['another name', { 'mcp-name': 'echo' }],
    ['another revision', { 'mcp-protocol-version': '2027-01-01' }],
    ['an earlier revision', { 'mcp-protocol-version': '2025-11-25' }],
  ])('is refused with -32020 if a header names %s than the body', async (_, headers) => {
    const count = upstream.received.length;
    const reply = await post('sample', call, { ...routing, ...headers });
    expect([reply.status, messageOf(reply.text).error.code]).toEqual([400, -32020]);
    expect(upstream.received.length).toBe(count);
  });
});

describe('an administrator', () => {
  it('disables capabilities at two levels: they are neither listed nor callable', async () => {
    const tools = { allowed: ['echo', 'choose', 'ask', 'fail', 'add'], blocked: ['ask'] };
    const { server, integration } = await addServer('limited', upstream.url, { configurations: { tools } });
    const flags = (...names: string[]) => ({ capabilities: names.map((name) => ({ name, type: 'tool', enabled: false })) });
    expect((await gateway.admin.put(`/mcp-integrations/${integration}/capabilities`, flags('fail'))).body).toEqual({
      success: true,
    });
    const prompt = { capabilities: [{ name: 'greet', type: 'prompt', enabled: false }] };
    await gateway.admin.put(`/mcp-servers/${server}/capabilities`, flags('add'));
    await gateway.admin.put(`/mcp-servers/${server}/capabilities`, prompt);
    const listed = async (method: string) => messageOf((await post('limited', request(method))).text).result;
    await until(async () => (await listed('prompts/list')).prompts.length === 0, { what: 'the flags in the gateway' });
    expect((await listed('tools/list')).tools.map(({ name }: { name: string }) => name)).toEqual(['echo', 'choose']);
    for (const name of ['ask', 'fail', 'add', 'progress']) {
      const refused = await post('limited', request('tools/call', { name, arguments: {} }));
      expect([refused.status, messageOf(refused.text).error]).toEqual([
        200,
        { code: -32602, message: `Tool '${name}' is disabled` },
      ]);
    }
    const got = await post('limited', request('prompts/get', { name: 'greet', arguments: { name: 'a' } }));
    expect(messageOf(got.text).error.code).toBe(-32602);
  });

  it('refuses users and, by default, everyone', async () => {
    const { server } = await addServer('closed', upstream.url);
    await gateway.admin.put(`/mcp-servers/${server}/user-access`, { default_user_access: 'deny' });
    await until(async () => (await post('closed', initialize)).status === 403, { what: 'the end of the access' });
    const refused = await post('closed', initialize);
    expect(JSON.parse(refused.text)).toEqual({
      error: 'forbidden',
      error_description: 'You do not have access to this MCP server',
    });
    const page = (await gateway.admin.get(`/mcp-servers/${server}/user-access`)).body;
    expect(page).toMatchObject({ object: 'list', default_user_access: 'deny', has_more: false });
  });

  it('limits calls of a tool with a policy', async () => {
    await addServer('metered', upstream.url);
    const made = await gateway.admin.post('/policies/rate-limits', {
      ...{ workspace_id: gateway.workspaceId, name: 'tools', target: 'mcp_tools', type: 'requests', unit: 'rpd', value: 1 },
      ...{ conditions: [{ key: 'mcp_server', value: 'metered' }], group_by: [{ key: 'mcp_tool' }] },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const limited = await until(
      async () => {
        const reply = await post('metered', echo('a'));
        return reply.status === 429 && reply;
      },
      { what: 'the limit' },
    );
    expect(messageOf(limited.text)).toMatchObject({ id: 9, error: { code: -32603, data: { code: 'rate_policy_limit' } } });
    expect(limited.headers.get('retry-after')).not.toBeNull();
    const other = await post('metered', request('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }));
    expect([other.status, messageOf(other.text).result.content[0].text]).toEqual([200, '3']);
    expect((await post('metered', request('tools/list'))).status).toBe(200);
    const ofTokens = await gateway.admin.post('/policies/rate-limits', {
      ...{ workspace_id: gateway.workspaceId, name: 'tokens', target: 'mcp_tools', type: 'tokens', unit: 'rpd', value: 10 },
      ...{ conditions: [{ key: 'mcp_tool', value: 'add' }], group_by: [{ key: 'mcp_server' }] },
    });
    expect(ofTokens.headers.get('x-svc-unused-settings')).toBeNull();
    await until(
      async () => (await post('metered', request('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }))).status === 429,
      {
        what: 'the limit of tokens',
      },
    );
  });
});

describe('the server', () => {
  it('receives configured and allowed headers, and no credential of the client', async () => {
    await addServer('headed', upstream.url, {
      auth_type: 'headers',
      configurations: {
        headers: { authorization: 'Bearer of-the-server', 'x-team': 'configured' },
        passthrough_headers: { 'x-stage': 'fixed' },
        forward_headers: ['x-team', { from: 'x-user', to: 'x-caller' }, 'x-key'],
      },
    });
    const sent = { 'x-team': 'client', 'x-user': 'ada', 'x-key': gateway.workspaceKey, 'x-other': 'no', cookie: 'a=b' };
    expect((await post('headed', initialize, sent)).status).toBe(200);
    const { headers } = upstream.received.at(-1) as McpUpstream['received'][number];
    expect(headers).toMatchObject({
      authorization: 'Bearer of-the-server',
      'x-team': 'configured',
      'x-stage': 'fixed',
      'x-caller': 'ada',
    });
    expect(JSON.stringify(headers)).not.toContain(gateway.workspaceKey);
    for (const name of ['x-other', 'cookie', 'x-key', 'x-user', 'x-svc-api-key']) expect(headers[name]).toBeUndefined();
  });

  it('is tested and synchronised by the control plane', async () => {
    const { server, integration } = await addServer('synced', upstream.url);
    expect((await gateway.admin.post(`/mcp-servers/${server}/test`, {})).body).toMatchObject({
      ...{ success: true, status_code: 200, server_name: 'sample', error: null, url: upstream.url },
    });
    const synced = (await gateway.admin.post(`/mcp-integrations/${integration}/sync`, {})).body;
    expect(synced).toMatchObject({ success: true, sync_status: 'success', sync_error: null });
    expect((await gateway.admin.get(`/mcp-integrations/${integration}/metadata`)).body).toMatchObject({
      ...{ server_name: 'sample', server_version: '1.2.3', instructions: 'Use the tools.', sync_status: 'success' },
      ...{ protocol_version: '2025-11-25', capability_flags: { tools: {} } },
    });
    const page = (await gateway.admin.get(`/mcp-servers/${server}/capabilities?type=tool&page_size=2`)).body;
    expect(page).toMatchObject({
      ...{ object: 'list', has_more: true, counts: { prompts: { total: 1, enabled: 1 }, resource_templates: { total: 1 } } },
      data: [{ name: 'add', type: 'tool', enabled: true, integration_enabled: true, input_schema: { type: 'object' } }, {}],
    });
  });

  it.each<[string, Partial<Record<string, string>>, number, string, number]>([
    ['redirects', { location: 'http://169.254.169.254/' }, 307, 'redirect', 502],
    ['rejects the credential', { 'www-authenticate': 'Bearer resource_metadata="https://evil.example"' }, 401, 'credential', 502],
    ['forbids the call', {}, 403, 'credential', 502],
  ])('%s: the client gets 502 and no header of the server', async (what, headers, status, text, expected) => {
    const broken = await startMcpUpstream();
    await addServer(`bad-${status}`, broken.url);
    broken.override = (_, response) => void response.writeHead(status, headers).end();
    const reply = await post(`bad-${status}`, initialize);
    expect([reply.status, messageOf(reply.text)], what).toMatchObject([
      expected,
      { id: 1, error: { code: -32603, message: expect.stringContaining(text), data: { code: 'upstream_status' } } },
    ]);
    expect([reply.headers.get('location'), reply.headers.get('www-authenticate')]).toEqual([null, null]);
    await broken.close();
  });

  it('gives an error when it closes its stream early, and 502 when it is gone', async () => {
    const broken = await startMcpUpstream();
    await addServer('broken', broken.url);
    broken.override = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': soon\n\n', () => response.destroy());
    };
    const cut = await post('broken', initialize);
    expect([cut.status, messageOf(cut.text)]).toMatchObject([200, { id: 1, error: { data: { code: 'upstream_reset' } } }]);
    broken.override = (_, response) => void response.writeHead(500, { 'content-type': 'text/plain' }).end('oh');
    expect((await post('broken', initialize)).status).toBe(500);
    await broken.close();
    const gone = await post('broken', initialize);
    expect([gone.status, messageOf(gone.text).error.data.code]).toEqual([502, 'upstream_connect']);
  });

  it('sends results of many megabytes, up to the limit of one message', async () => {
    const large = await startMcpUpstream();
    await addServer('large', large.url);
    const send = (bytes: number) => {
      large.override = (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"jsonrpc":"2.0","id":1,"result":{"text":"');
        response.write('x'.repeat(bytes));
        response.end('"}}\n\n');
      };
    };
    send(8 * 1024 * 1024);
    expect((await post('large', initialize)).text.length).toBeGreaterThan(8 * 1024 * 1024);
    send(40 * 1024 * 1024);
    expect(messageOf((await post('large', initialize)).text).error.data.code).toBe('upstream_invalid');
    await large.close();
  });
});
