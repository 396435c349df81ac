import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

/** Selected prompts and resources of virtual servers, with the client of the official SDK. */
let gateway: SharedGateway;
let workspaceSlug: string;
let left: McpUpstream;
let right: McpUpstream;
const ids: Record<string, string> = {};
const opened: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  gateway = await shareGateway();
  workspaceSlug = (await gateway.admin.get(`/admin/workspaces/${gateway.workspaceId}`)).body.slug;
  left = await startMcpUpstream();
  right = await startMcpUpstream();
  for (const [slug, { url }] of Object.entries({ 'items-left': left, 'items-right': right })) {
    const shared = { name: slug, workspace_id: gateway.workspaceId };
    const { id } = await gateway.admin.create('/mcp-integrations', {
      ...{ ...shared, slug: `${slug}-${workspaceSlug}`, url, transport: 'http', auth_type: 'none' },
    });
    ids[slug] = String((await gateway.admin.create('/mcp-servers', { ...shared, slug, mcp_integration_id: id })).id);
  }
});
afterAll(async () => {
  for (const one of opened.reverse()) await one.close();
  await left.close();
  await right.close();
});

async function virtual(slug: string, selection: JsonObject): Promise<Client> {
  await gateway.admin.create('/mcp-virtual-servers', { name: slug, slug, workspace_id: gateway.workspaceId, ...selection });
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.origin}/${workspaceSlug}/${slug}/mcp`), {
    requestInit: { headers: { 'x-svc-api-key': gateway.workspaceKey } },
  });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  opened.push(client);
  return client;
}

const promptsOf = async (client: Client) => (await client.listPrompts()).prompts.map(({ name }) => name);
const urisOf = async (client: Client) => (await client.listResources()).resources.map(({ uri }) => uri);
const textOf = (result: { contents: object[] }) => (result.contents[0] as { text?: string }).text;

describe('selected prompts of a virtual server', () => {
  it('have other names, descriptions and fixed arguments, and the others are hidden', async () => {
    const client = await virtual('chosen-prompts', {
      prompts: [
        { mcp_server_id: 'items-left', prompt: 'greet', name: 'hello', description: 'Says hello', arguments: { name: 'Ann' } },
        { mcp_server_id: 'items-right', prompt: 'greet' },
      ],
    });
    expect(client.getServerCapabilities()).toMatchObject({ prompts: {}, completions: {} });
    expect(client.getServerCapabilities()?.resources).toBeUndefined();
    const { prompts } = await client.listPrompts();
    expect(prompts).toMatchObject([{ name: 'hello', description: 'Says hello', arguments: [] }, { name: 'greet' }]);
    expect(prompts[1]?.arguments).toMatchObject([{ name: 'name' }]);
    const hello = await client.getPrompt({ name: 'hello', arguments: { name: 'another' } });
    expect(hello.messages[0]?.content).toMatchObject({ text: 'Say hi to Ann' });
    const greet = await client.getPrompt({ name: 'greet', arguments: { name: 'Bob' } });
    expect(greet.messages[0]?.content).toMatchObject({ text: 'Say hi to Bob' });
    await expect(client.getPrompt({ name: 'other' })).rejects.toThrow(/-32602.*Prompt 'other' not found/);
    const ref = { type: 'ref/prompt' as const, name: 'hello' };
    await expect(client.complete({ ref, argument: { name: 'name', value: 'A' } })).rejects.toThrow(/Argument 'name' not found/);
    await expect(client.listResources()).rejects.toThrow(/-32601|does not support/);
    expect((await client.listTools()).tools).toEqual([]);
  });

  it('come before those of a prefix, and replace those of a server with all its tools', async () => {
    const client = await virtual('mixed-prompts', {
      tools: [{ mcp_server_id: 'items-left', tool: '*' }],
      prompts: [
        { mcp_server_id: 'items-left', prompt: 'greet', name: 'r_greet', arguments: { name: 'left' } },
        { mcp_server_id: 'items-right', prompt: '*', prefix: 'r_' },
      ],
    });
    // The name of one selection wins over a name that a prefix gives, and `greet` of the first server is no longer there.
    expect(await promptsOf(client)).toEqual(['r_greet']);
    const { messages } = await client.getPrompt({ name: 'r_greet', arguments: {} });
    expect(messages[0]?.content).toMatchObject({ text: 'Say hi to left' });
    await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow(/Prompt 'greet' not found/);
    // Resources of that server are not narrowed.
    expect(await urisOf(client)).toEqual(['file:///readme.md']);
  });
});

describe('selected resources of a virtual server', () => {
  it('are read from the selected server, by URI and by template', async () => {
    const client = await virtual('chosen-resources', {
      resources: [
        { mcp_server_id: 'items-right', resource: 'file:///readme.md', name: 'Handbook', description: 'How we work' },
        { mcp_server_id: 'items-left', resource: 'file:///logs/{day}', name: 'Diary' },
      ],
    });
    expect((await client.listResources()).resources).toMatchObject([
      { uri: 'file:///readme.md', name: 'Handbook', description: 'How we work' },
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'file:///logs/{day}', name: 'Diary' },
    ]);
    const before = right.received.length;
    expect(textOf(await client.readResource({ uri: 'file:///readme.md' }))).toBe('# Read me');
    expect(right.received.length).toBeGreaterThan(before);
    expect(textOf(await client.readResource({ uri: 'file:///logs/monday' }))).toBe('a log');
    const ref = { type: 'ref/resource' as const, uri: 'file:///logs/{day}' };
    expect((await client.complete({ ref, argument: { name: 'day', value: 'm' } })).completion.values).toContain('monday');
    for (const uri of ['file:///logs/monday/secret', 'file:///other', 'file:///logs?x=1']) {
      await expect(client.readResource({ uri })).rejects.toThrow(`Resource '${uri}' not found`);
    }
  });

  it('keep the flags and the access rules of their servers', async () => {
    const client = await virtual('flagged', {
      prompts: [{ mcp_server_id: 'items-left', prompt: 'greet' }],
      resources: [
        { mcp_server_id: 'items-left', resource: 'file:///logs/{day}' },
        { mcp_server_id: 'items-left', resource: 'file:///readme.md' },
        { mcp_server_id: 'items-right', resource: '*' },
      ],
    });
    const read = (uri: string) => client.readResource({ uri });
    expect(textOf(await read('file:///logs/monday'))).toBe('a log');
    const flags = (enabled: boolean) => ({
      capabilities: [
        { name: 'greet', type: 'prompt', enabled },
        { name: 'file:///readme.md', type: 'resource', enabled },
        { name: 'file:///logs/{day}', type: 'resource_template', enabled },
      ],
    });
    for (const slug of ['items-left', 'items-right']) {
      await gateway.admin.put(`/mcp-servers/${ids[slug]}/capabilities`, flags(false));
    }
    await until(async () => (await promptsOf(client)).length === 0, { what: 'the flags in the gateway' });
    await until(async () => (await urisOf(client)).length === 0, { what: 'the flags of the other server' });
    await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow(/Prompt 'greet' is disabled/);
    await expect(read('file:///readme.md')).rejects.toThrow(/Resource 'file:\/\/\/readme.md' is disabled/);
    await expect(read('file:///logs/monday')).rejects.toThrow(/not found/);
    for (const slug of ['items-left', 'items-right']) {
      await gateway.admin.put(`/mcp-servers/${ids[slug]}/capabilities`, flags(true));
    }
    await until(async () => (await promptsOf(client)).length === 1, { what: 'the end of the flags' });
    const closed = { default_user_access: 'deny', workspace_id: gateway.workspaceId };
    await gateway.admin.put('/mcp-servers/items-left/user-access', closed);
    await until(async () => (await promptsOf(client)).length === 0, { what: 'the end of the access' });
    await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow(/Prompt 'greet' not found/);
    // The other server has the same URI.
    expect(textOf(await read('file:///readme.md'))).toBe('# Read me');
  });
});
