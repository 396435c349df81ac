import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, echo, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';

/** Replies of an MCP server that clients read differently than a plain reader, to reach them without a check. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let upstream: McpUpstream;
let session: Record<string, string>;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startMcpUpstream()]);
  client = await mcpClient(gateway);
  const guardrail = await gateway.admin.create('/guardrails', {
    ...{ name: 'hostile', target: 'mcp_tools', workspace_id: gateway.workspaceId, actions: { deny: true } },
    checks: [{ id: 'default.contains', parameters: { words: ['leaked'], operator: 'none' } }],
  });
  const configurations = { output_guardrails: [String(guardrail.slug)] };
  await client.addServer('hostile', upstream.url, { configurations });
  session = await client.begin('hostile');
});
afterAll(() => upstream?.close());

const result = (text: string) => ({ content: [{ type: 'text', text }] });
const leak = { jsonrpc: '2.0', id: 9, result: result('leaked') };
const fine = JSON.stringify({ jsonrpc: '2.0', id: 9, result: result('fine') });

async function reply(contentType: string, body: string): Promise<string> {
  upstream.override = (incoming, response) => {
    incoming.resume();
    response.writeHead(200, { 'content-type': contentType }).end(body);
  };
  try {
    return (await client.post('hostile', echo('hello'), session)).text;
  } finally {
    upstream.override = null;
  }
}

describe('a result that a guardrail denies does not pass', () => {
  it.each([
    ['between blank lines of other line ends', `data: {"x":\n\r\ndata: ${JSON.stringify(leak)}\n\r\ndata: }\n\n`],
    ['between blank lines of carriage returns', `data: {"x":\r\rdata: ${JSON.stringify(leak)}\r\rdata: }\n\n`],
    ['behind a mark that clients remove', `\u00ef\u00bb\u00bfdata: ${JSON.stringify(leak)}\n\ndata: ${fine}\n\n`],
    ['with a method that is null', `data: ${JSON.stringify({ ...leak, method: null })}\n\ndata: ${fine}\n\n`],
    ['with a method', `data: ${JSON.stringify({ ...leak, method: 'ping' })}\n\ndata: ${fine}\n\n`],
    ['in another spelling', `data: {"jsonrpc":"2.0","id":9,"Result":${JSON.stringify(leak.result)}}\n\ndata: ${fine}\n\n`],
    [
      'beside another one with the same key',
      `data: ${fine.replace('"result"', `"result":${JSON.stringify(leak.result)},"result"`)}\n\n`,
    ],
  ])('in an event stream, %s', async (_, stream) => {
    expect(await reply('text/event-stream', stream)).not.toContain('leaked');
  });

  it.each([
    ['with a method that is null', JSON.stringify({ ...leak, method: null })],
    ['in another spelling', `{"jsonrpc":"2.0","id":9,"re\u017fult":${JSON.stringify(leak.result)}}`],
    ['beside another one with the same key', fine.replace('"result"', `"result":${JSON.stringify(leak.result)},"result"`)],
  ])('in JSON, %s', async (_, body) => {
    expect(await reply('application/json', body)).not.toContain('leaked');
  });

  it('an event stream with carriage returns passes', async () => {
    expect(await reply('text/event-stream', `event: message\rdata: ${fine}\r\r`)).toContain('fine');
  });
});

/** Starts a server that opens and lists as told. Other methods are unknown. */
async function startLiar(lists: (authorization?: string) => string, opens: object = {}): Promise<McpUpstream> {
  const liar = await startMcpUpstream();
  liar.override = async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { id, method } = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
    if (id === undefined) return void response.writeHead(202).end();
    const serverInfo = { name: 'a', version: '1' };
    const opened = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo, ...opens };
    const sent =
      method === 'initialize'
        ? `"result":${JSON.stringify(opened)}`
        : method === 'tools/list'
          ? lists(incoming.headers.authorization)
          : unknownMethod;
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${sent}}`);
  };
  return liar;
}

const unknownMethod = '"error":{"code":-32601,"message":"Method not found"}';

it.each<[string, (page: number) => string, number, number]>([
  ['without a last page', (page) => `"result":{"tools":[],"nextCursor":"${page}"}`, 5, 1_000],
  ['whose cursors go round in a circle', (page) => `"result":{"tools":[],"nextCursor":"${page % 3}"}`, 4, 20],
  ['of huge pages', (page) => `"result":{"tools":[{"name":"${'a'.repeat(7_000_000)}"}],"nextCursor":"${page}"}`, 3, 20],
  ['with an empty cursor', () => `"result":{"tools":[],"nextCursor":""}`, 1, 5],
])('a list %s ends', async (what, list, pagesMin, pagesMax) => {
  let pages = 0;
  const endless = await startLiar(() => list(pages++));
  try {
    const { integration } = await client.addServer(`endless-${what.length}`, endless.url);
    await gateway.admin.post(`/mcp-integrations/${integration}/sync`, {});
    expect(pages).toBeGreaterThanOrEqual(pagesMin);
    expect(pages).toBeLessThan(pagesMax);
  } finally {
    await endless.close();
  }
});

describe('a synchronisation', () => {
  const tool = (name: string, more = '') => `{"name":"${name}","inputSchema":{"type":"object"${more}}}`;
  const deep = `,"a":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

  it.each<[string, string, object]>([
    ['two tools of one name', `${tool('a')},${tool('a', ',"title":"x"')},${tool('b')}`, {}],
    ['a tool whose definition is nested deeply', `${tool('a')},${tool('deep', deep)},${tool('b')}`, {}],
    ['a tool with a zero byte', `${tool('a')},${tool('z\\u0000')},${tool('b')}`, {}],
    ['texts about itself with a zero byte', `${tool('a')},${tool('b')}`, { instructions: 'a\u0000b' }],
  ])('leaves out what cannot be stored: %s', async (what, tools, opens) => {
    const liar = await startLiar(() => `"result":{"tools":[${tools}]}`, opens);
    try {
      const { integration } = await client.addServer(`liar-${what.length}`, liar.url);
      const reply = await gateway.admin.post(`/mcp-integrations/${integration}/sync`, {});
      expect(reply.body).toMatchObject({ success: true, sync_error: null });
      const { body } = await gateway.admin.get(`/mcp-integrations/${integration}/capabilities`);
      expect(body.data.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
    } finally {
      await liar.close();
    }
  });

  it('shows no credential that the server repeats', async () => {
    const liar = await startLiar((sent) => `"error":{"code":-1,"message":"bad token ${sent}"}`);
    try {
      const headers = { authorization: 'Bearer a-credential-of-the-server' };
      const settings = { auth_type: 'headers', configurations: { headers } };
      const { integration } = await client.addServer('parrot', liar.url, settings);
      const failed = await gateway.admin.post(`/mcp-integrations/${integration}/sync`, {});
      expect(failed.body.sync_error).toMatch(/^The MCP server replied with an error: bad token Bearer \*+$/);
    } finally {
      await liar.close();
    }
  });
});

it('a list without a disabled tool: a definition that is nested deeply is an error of the server', async () => {
  const { server } = await client.addServer('deep', upstream.url);
  const capabilities = [{ name: 'echo', type: 'tool', enabled: false }];
  expect((await gateway.admin.put(`/mcp-servers/${server}/capabilities`, { capabilities })).status).toBe(200);
  const opened = await client.begin('deep');
  const schema = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  upstream.override = (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(`{"jsonrpc":"2.0","id":9,"result":{"tools":[{"name":"echo"},{"name":"b","inputSchema":${schema}}]}}`);
  const { status, text } = await client.post('deep', request('tools/list'), opened);
  upstream.override = null;
  expect([status, messageOf(text).error]).toMatchObject([
    502,
    { message: 'The MCP server deep sent a message that is nested too deeply', data: { code: 'upstream_invalid' } },
  ]);
});

it.each([
  ['abyss', ''],
  ['abyss-of-pages', ',"nextCursor":"2"'],
])('a list of a virtual server states that definitions of a server are nested too deeply: %s', async (slug, more) => {
  const schema = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const liar = await startLiar(() => `"result":{"tools":[{"name":"b","inputSchema":${schema}}]${more}}`);
  try {
    await client.addServer(slug, liar.url);
    const tools = [{ mcp_server_id: slug, tool: 'b' }];
    await gateway.admin.create('/mcp-virtual-servers', {
      name: 'Chasm',
      slug: `${slug}-virtual`,
      workspace_id: gateway.workspaceId,
      tools,
    });
    const listed = messageOf(
      (await client.post(`${slug}-virtual`, request('tools/list'), await client.begin(`${slug}-virtual`))).text,
    ).result;
    expect(listed._meta['svc-gateway/missing_servers']).toEqual([
      { server: slug, reason: 'The MCP server sent a message that is nested too deeply' },
    ]);
  } finally {
    await liar.close();
  }
});

describe('a tool that is disabled', () => {
  it.each([
    ['with a name in a list', callTool(['echo'] as unknown as string), -32602],
    ['with an object as its name', request('tools/call', { name: { toString: 'echo' } }), -32602],
    ['in another spelling', '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"fail","Name":"echo"}}', -32600],
    ['with a letter that decoders fold', '{"jsonrpc":"2.0","id":9,"method":"ping","param\u017f":{"name":"echo"}}', -32600],
    ['in a response with another method', '{"jsonrpc":"2.0","id":9,"result":{},"Method":"tools/call"}', -32600],
    ['with other arguments', '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","Arguments":{}}}', -32600],
  ])('cannot be called %s', async (_, body, code) => {
    const count = upstream.received.length;
    const { text } = await client.post('hostile', body);
    expect(JSON.parse(text).error).toMatchObject({ code });
    expect(upstream.received.length).toBe(count);
  });
});
