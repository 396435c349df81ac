import { PromptListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { namesOf, sent, startToolClients, type ToolClients, tool } from '../../support/clients/tool-clients.ts';
import type { ListedToolsServer } from '../../support/tool-servers/listed-tools-server.ts';
import { startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

/** Virtual servers between MCP servers and the client of the official SDK. */
let gateway: ToolClients['gateway'];
let clients: ToolClients;
beforeAll(async () => {
  clients = await startToolClients();
  ({ gateway } = clients);
});
afterAll(() => clients?.close());

describe('a virtual server', () => {
  let legacy: ListedToolsServer;
  let stateless: ListedToolsServer;
  let flaky: ListedToolsServer;
  let issues: { server: string; integration: string };
  beforeAll(async () => {
    const properties = { text: { type: 'string' }, repo: { type: 'string' } };
    const inputSchema = { type: 'object', properties, required: ['text', 'repo'] };
    legacy = await clients.upstream([tool('create', 'Creates an issue', { inputSchema }), tool('remove')]);
    stateless = await clients.upstream([tool('send')], { stateless: true });
    flaky = await clients.upstream([tool('slow')]);
    issues = await clients.addServer('issues', legacy.url);
    await clients.addServer('mail', stateless.url);
    await clients.addServer('flaky', flaky.url);
    await gateway.admin.create('/mcp-virtual-servers', {
      ...{ name: 'Support', slug: 'support', description: 'Tools of support.', workspace_id: gateway.workspaceId },
      ...{ list_timeout_ms: 1_000 },
      tools: [
        { mcp_server_id: 'mail', tool: 'send', name: 'send_mail', description: 'Sends a mail' },
        { mcp_server_id: 'issues', tool: 'create', name: 'create_issue', arguments: { repo: 'support' } },
        { mcp_server_id: 'issues', tool: 'remove' },
        { mcp_server_id: 'flaky', tool: 'slow' },
      ],
    });
  });

  it('lists and calls selected tools of several servers, renamed and with fixed arguments', async () => {
    const client = await clients.connect('support');
    expect([client.getServerVersion(), client.getInstructions()]).toMatchObject([
      { name: 'support', title: 'Support' },
      'Tools of support.',
    ]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, description }) => [name, description])).toEqual([
      ...[
        ['send_mail', 'Sends a mail'],
        ['create_issue', 'Creates an issue'],
        ['remove', 'Does remove'],
        ['slow', 'Does slow'],
      ],
    ]);
    expect(tools[1]?.inputSchema).toEqual({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] });
    await client.ping();
    const call = { name: 'create_issue', arguments: { text: 'a', repo: 'other' } };
    expect(sent(await client.callTool(call))).toEqual({ name: 'create', arguments: { text: 'a', repo: 'support' } });
    expect(sent(await client.callTool({ name: 'send_mail', arguments: { text: 'b' } }))).toEqual({
      name: 'send',
      arguments: { text: 'b' },
    });
    expect(stateless.received.at(-1)?.headers).toMatchObject({
      ...{ 'mcp-method': 'tools/call', 'mcp-name': 'send', 'mcp-protocol-version': '2026-07-28' },
    });
    await expect(client.callTool({ name: 'create' })).rejects.toThrow(/-32602.*Tool 'create' not found/);
    await expect(client.listPrompts()).rejects.toThrow(/-32601|does not support/);
  });

  it('serves the revision without sessions', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const headers = (method: string) => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method });
    const found = await clients.post('support', 'server/discover', { _meta: meta }, headers('server/discover'));
    expect(found.body.result).toMatchObject({
      resultType: 'complete',
      capabilities: { tools: {} },
      serverInfo: { name: 'support' },
    });
    const params = { name: 'create_issue', arguments: { text: 'a' }, _meta: { ...meta, progressToken: 'p' } };
    const called = await clients.post('support', 'tools/call', params, { ...headers('tools/call'), 'mcp-name': 'create_issue' });
    expect(sent(called.body.result).name).toBe('create');
    expect(legacy.received.at(-1)?.params._meta).toEqual({ progressToken: 'p' });
    expect(await clients.logOf(called.trace)).toMatchObject({
      mcp: {
        ...{
          server: 'issues',
          server_id: issues.server,
          integration_id: issues.integration,
          name: 'create',
          method: 'tools/call',
        },
        via: { server: 'support', name: 'create_issue' },
      },
    });
    const listed = await clients.post('support', 'tools/list', { _meta: meta }, headers('tools/list'));
    expect(listed.body.result).toMatchObject({ cacheScope: 'private', resultType: 'complete' });
    expect((await clients.logOf(listed.trace)).mcp).toMatchObject({
      server: 'support',
      transport: 'virtual',
      integration_id: null,
      via: null,
    });
  });

  it('keeps the flags, access rules and limits of the servers behind it', async () => {
    const client = await clients.connect('support');
    const flags = { capabilities: [{ name: 'remove', type: 'tool', enabled: false }] };
    await gateway.admin.put(`/mcp-servers/${issues.server}/capabilities`, flags);
    await until(async () => !(await namesOf(client)).includes('remove'), { what: 'the flag in the gateway' });
    await expect(client.callTool({ name: 'remove' })).rejects.toThrow(/Tool 'remove' is disabled/);
    await gateway.admin.put('/mcp-servers/mail/user-access', { default_user_access: 'deny', workspace_id: gateway.workspaceId });
    await until(async () => !(await namesOf(client)).includes('send_mail'), { what: 'the end of the access' });
    await expect(client.callTool({ name: 'send_mail' })).rejects.toThrow(/Tool 'send_mail' not found/);
    await gateway.admin.create('/policies/rate-limits', {
      ...{ workspace_id: gateway.workspaceId, name: 'issues', target: 'mcp_tools', type: 'requests', unit: 'rpd', value: 1 },
      ...{ conditions: [{ key: 'mcp_tool', value: 'create' }], group_by: [{ key: 'mcp_server' }] },
    });
    const refused = await until(
      async () => {
        const reply = await clients.post('support', 'tools/call', { name: 'create_issue', arguments: { text: 'a' } });
        return reply.status === 429 && reply;
      },
      { what: 'the limit of the server' },
    );
    expect(refused.body.error.data.code).toBe('rate_policy_limit');
  });

  it('has all tools of a server, under a prefix, also while they change', async () => {
    const [left, right] = [
      await clients.upstream([tool('read'), tool('write')]),
      await clients.upstream([tool('read'), tool('hidden')]),
    ];
    await clients.addServer('left', left.url);
    await clients.addServer('right', right.url, { configurations: { tools: { blocked: ['hidden'] } } });
    await gateway.admin.create('/mcp-virtual-servers', {
      ...{ name: 'Whole', slug: 'whole', workspace_id: gateway.workspaceId },
      tools: [
        { mcp_server_id: 'left', tool: '*' },
        { mcp_server_id: 'right', tool: '*', prefix: 'right_' },
        { mcp_server_id: 'right', tool: 'read', name: 'write' },
      ],
    });
    const client = await clients.connect('whole');
    // A tool that is selected by its name wins, and is not listed twice.
    expect(await namesOf(client)).toEqual(['read', 'write']);
    expect(sent(await client.callTool({ name: 'write', arguments: { text: 'a' } })).name).toBe('read');
    expect(right.received.at(-1)?.params.name).toBe('read');
    expect(sent(await client.callTool({ name: 'read' })).name).toBe('read');
    expect(left.received.at(-1)?.params.name).toBe('read');
    await expect(client.callTool({ name: 'right_hidden' })).rejects.toThrow(/is disabled/);
    await expect(client.callTool({ name: 'unknown' })).rejects.toThrow(/not found/);
    // A new list is read for another caller.
    right.tools = [tool('added')];
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const other = await clients.connect('whole', key);
    expect(await namesOf(other)).toEqual(['read', 'write', 'right_added']);
    expect(sent(await other.callTool({ name: 'right_added' })).name).toBe('added');
  });

  it('has the prompts and resources of a server with all its tools, and notifies clients about changes', async () => {
    const sample = await startMcpUpstream();
    const { server } = await clients.addServer('sample', sample.url);
    await gateway.admin.create('/mcp-virtual-servers', {
      ...{ name: 'Items', slug: 'items', workspace_id: gateway.workspaceId },
      tools: [
        { mcp_server_id: 'sample', tool: '*', prefix: 'my_' },
        { mcp_server_id: 'issues', tool: 'create' },
      ],
    });
    const client = await clients.connect('items');
    expect(client.getServerCapabilities()).toMatchObject({ prompts: { listChanged: true }, resources: { listChanged: true } });
    let notices = 0;
    client.setNotificationHandler(PromptListChangedNotificationSchema, () => void notices++);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['my_greet']);
    expect((await client.getPrompt({ name: 'my_greet', arguments: { name: 'you' } })).messages[0]?.content).toMatchObject({
      text: 'Say hi to you',
    });
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['file:///readme.md']);
    expect((await client.readResource({ uri: 'file:///readme.md' })).contents[0]).toMatchObject({ text: '# Read me' });
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect((await client.readResource({ uri: 'file:///logs/monday' })).contents[0]).toMatchObject({ text: 'a log' });
    const ref = { type: 'ref/resource' as const, uri: 'file:///logs/{day}' };
    expect((await client.complete({ ref, argument: { name: 'day', value: 'm' } })).completion.values).toContain('monday');
    await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow(/-32602.*Prompt 'greet' not found/);
    await expect(client.readResource({ uri: 'file:///other' })).rejects.toThrow(/Resource 'file:\/\/\/other' not found/);
    const flags = { capabilities: [{ name: 'greet', type: 'prompt', enabled: false }] };
    await gateway.admin.put(`/mcp-servers/${server}/capabilities`, flags);
    await until(() => notices > 0, { what: 'the notice' });
    expect((await client.listPrompts()).prompts).toEqual([]);
    await expect(client.getPrompt({ name: 'my_greet' })).rejects.toThrow(/not found/);
    await sample.close();
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const partial = (await clients.post('items', 'prompts/list', {}, { 'x-svc-api-key': key })).body.result;
    expect(partial).toMatchObject({ prompts: [], _meta: { 'svc-gateway/missing_servers': [{ server: 'sample' }] } });
    await client.close();
  });

  it('leaves out servers that do not list their tools in time, and names them', async () => {
    flaky.hangs = true;
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const partial = (await clients.post('support', 'tools/list', {}, { 'x-svc-api-key': key })).body.result;
    expect(partial.tools.map(({ name }: { name: string }) => name)).toEqual(['create_issue']);
    expect(partial._meta).toEqual({ 'svc-gateway/missing_servers': [{ server: 'flaky', reason: 'no list within 1000 ms' }] });
    await flaky.close();
    const { key: other } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const dead = (await clients.post('support', 'tools/list', {}, { 'x-svc-api-key': other })).body.result;
    expect(dead._meta['svc-gateway/missing_servers']).toMatchObject([{ server: 'flaky' }]);
  });
});
