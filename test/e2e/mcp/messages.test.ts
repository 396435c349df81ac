import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { echo, initialize, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';

/** Messages to an MCP server that the gateway checks itself. */
let gateway: SharedGateway;
let upstream: McpUpstream;
let client: Awaited<ReturnType<typeof mcpClient>>;
const urlOf = (slug: string) => client.urlOf(slug);
const post = (slug: string, body: unknown, headers?: Record<string, string>) => client.post(slug, body, headers);

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startMcpUpstream()]);
  client = await mcpClient(gateway);
  await client.addServer('sample', upstream.url);
});
afterAll(() => upstream?.close());

describe('a message', () => {
  it.each<[string, unknown, number, number]>([
    ['text that is not JSON', '{bad', 400, -32700],
    ['bytes that are not UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), 400, -32700],
    [
      'a batch of 10,000',
      JSON.stringify(Array.from({ length: 10_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
      400,
      -32600,
    ],
    ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'ping' }, 400, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }, 400, -32600],
    ['params that are no object', { jsonrpc: '2.0', id: 1, method: 'ping', params: [1] }, 400, -32602],
    ['a method twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}', 400, -32600],
    [
      'the name of a tool twice, once with an escape',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","n\\u0061me":"fail"}}',
      400,
      -32600,
    ],
    [
      'objects in 100 levels',
      `{"jsonrpc":"2.0","id":1,"method":"x","params":${'{"a":'.repeat(100)}1${'}'.repeat(100)}}`,
      400,
      -32600,
    ],
    ['nothing', '', 400, -32700],
  ])('%s: refused before the server is called', async (_, body, status, code) => {
    const count = upstream.received.length;
    const reply = await post('sample', body);
    expect([reply.status, messageOf(reply.text).error.code]).toEqual([status, code]);
    expect(upstream.received.length).toBe(count);
  });

  it('is refused if it has more than 4 MiB', async () => {
    const reply = await post('sample', echo('x'.repeat(5 * 1024 * 1024)));
    expect([reply.status, messageOf(reply.text).error.data.code]).toEqual([413, 'body_too_large']);
  });

  it('gets the reply of the server to an unknown method', async () => {
    const reply = await post('sample', request('zz/yy'));
    expect(messageOf(reply.text).error.code).toBe(-32601);
  });

  it('needs an Accept header with both forms, and a stream needs a session', async () => {
    const json = await post('sample', initialize, { accept: 'application/json' });
    expect([json.status, messageOf(json.text).error.code]).toEqual([406, -32000]);
    const stream = await fetch(urlOf('sample'), {
      headers: { 'x-svc-api-key': gateway.workspaceKey, accept: 'text/event-stream' },
    });
    expect(stream.status).toBe(405);
    const other = await fetch(urlOf('sample'), { method: 'PATCH', headers: { 'x-svc-api-key': gateway.workspaceKey } });
    expect(other.status).toBe(405);
  });

  it('is refused from a page of an unknown origin, and passes from one of this service', async () => {
    expect((await post('sample', initialize, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post('sample', initialize, { origin: gateway.origin })).status).toBe(200);
  });

  it('finds the metadata of its server without credentials', async () => {
    const reply = await fetch(`${gateway.origin}/.well-known/oauth-protected-resource/${client.workspaceSlug}/sample/mcp`);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({
      resource: expect.stringMatching(/\/sample\/mcp$/),
      bearer_methods_supported: ['header'],
    });
  });
});
