import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpClient } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type StatelessUpstream, startStatelessUpstream } from '../../support/tool-servers/stateless-upstream.ts';

/** Servers of 2026-07-28 that ask clients of the same revision, behind endpoints of the gateway. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let upstream: StatelessUpstream;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startStatelessUpstream()]);
  client = await mcpClient(gateway);
  const made = await gateway.admin.create('/guardrails', {
    ...{ workspace_id: gateway.workspaceId, name: 'Questions', target: 'mcp_tools', actions: { deny: true } },
    checks: [{ id: 'default.contains', parameters: { words: ['secret', 'Greet Eve'], operator: 'none' } }],
  });
  const configurations = { input_guardrails: [made.id], output_guardrails: [made.id] };
  await client.addServer('asking', upstream.url, { configurations });
  const { server } = await client.addServer('asking-search', upstream.url, { configurations });
  await gateway.admin.put(`/mcp-servers/${server}`, { tool_search: true });
  const fields = { workspace_id: gateway.workspaceId, tools: [{ mcp_server_id: 'asking', tool: '*', prefix: 'my_' }] };
  await gateway.admin.create('/mcp-virtual-servers', { ...fields, name: 'Virtual', slug: 'asking-virtual' });
});
afterAll(() => upstream?.close());

/** Connects a client of 2026-07-28 that replies to the questions that it offers. */
async function connect(slug: string, capabilities: NonNullable<ClientOptions['capabilities']>, name = 'Ada'): Promise<Client> {
  const sdk = new Client({ name: 'asked', version: '1' }, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (capabilities.elicitation) {
    sdk.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: { name } }));
  }
  if (capabilities.sampling) {
    const content = { type: 'text' as const, text: 'Hello' };
    sdk.setRequestHandler('sampling/createMessage', () => ({ model: 'm', role: 'assistant' as const, content }));
  }
  const headers = { 'x-svc-api-key': gateway.workspaceKey };
  await sdk.connect(new StreamableHTTPClientTransport(new URL(client.urlOf(slug)), { requestInit: { headers } }));
  return sdk;
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;

describe.each([
  ['a virtual server', 'asking-virtual', (name: string) => ({ name: `my_${name}` })],
  ['a server with tool search', 'asking-search', (name: string) => ({ name: 'call_tool', arguments: { name } })],
])('a client of 2026-07-28 at %s', (_name, slug, call) => {
  it('gets the questions of a tool, and sends the call again with its replies', async () => {
    const sdk = await connect(slug, { elicitation: {}, sampling: {} });
    expect(textOf(await sdk.callTool(call('ask')))).toBe('Ada: Hello');
    await sdk.close();
  });

  it.each([
    ['reply', 'secret', 1],
    ['question', 'Eve', 2],
  ])('is refused by the guardrails of the server for a denied %s', async (_what, name, calls) => {
    const sdk = await connect(slug, { elicitation: {}, sampling: {} }, name);
    const before = upstream.received.length;
    await expect(sdk.callTool(call('ask'))).rejects.toMatchObject({ code: -32446 });
    const sent = upstream.received.slice(before).filter((headers) => headers['mcp-name'] === 'ask');
    expect(sent).toHaveLength(calls);
    await sdk.close();
  });

  it('is named to the server as the gateway, with the questions that it offers', async () => {
    const sdk = await connect(slug, { sampling: {}, experimental: { other: {} } });
    expect(JSON.parse(textOf(await sdk.callTool(call('client'))) ?? '')).toMatchObject({
      'io.modelcontextprotocol/clientInfo': { name: 'svc-gateway' },
      'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
    });
    await expect(sdk.callTool(call('ask'))).rejects.toThrow();
    await sdk.close();
  });
});
