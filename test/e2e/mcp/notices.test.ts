import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialize, mcpClient, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type McpUpstream, startMcpUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

/** Cancellations, questions and notices between clients and MCP servers. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let sound: McpUpstream;
let broken: McpUpstream;

beforeAll(async () => {
  [gateway, sound, broken] = await Promise.all([shareGateway(), startMcpUpstream(), startMcpUpstream({ sessions: false })]);
  client = await mcpClient(gateway);
  await client.addServer('sound', sound.url);
  await client.addServer('broken', broken.url);
});
afterAll(async () => {
  await Promise.all([sound?.close(), broken?.close()]);
});

describe('a client', () => {
  it('cancels the call of the server by disconnecting', async () => {
    let closed: Promise<unknown> | null = null;
    let arrived = () => {};
    const isCalled = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    broken.override = (incoming) => {
      closed = once(incoming.socket, 'close');
      arrived();
    };
    const gone = new AbortController();
    const sent = fetch(client.urlOf('broken'), {
      method: 'POST',
      headers: { accept: 'application/json, text/event-stream', 'x-svc-api-key': gateway.workspaceKey },
      body: JSON.stringify(initialize),
      signal: gone.signal,
    }).catch(() => null);
    await isCalled;
    gone.abort();
    await sent;
    await closed;
  });

  it('cancels a request with a notice, which reaches the server', async () => {
    const bodies: string[] = [];
    broken.override = (incoming, response) => {
      incoming.on('data', (chunk) => void bodies.push(String(chunk)));
      incoming.on('end', () => void response.writeHead(202).end());
    };
    const notice = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
    expect((await client.post('broken', notice, { 'mcp-session-id': '' })).status).toBe(404);
    const stateless = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/cancelled' };
    const reply = await client.post('broken', notice, stateless);
    expect([reply.status, bodies]).toEqual([202, [JSON.stringify(notice)]]);
  });

  it('replies to a question of the server', async () => {
    const sdk = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
    sdk.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { colour: 'green' } }));
    const transport = new StreamableHTTPClientTransport(new URL(client.urlOf('sound')), {
      requestInit: { headers: { 'x-svc-api-key': gateway.workspaceKey } },
    });
    const streams = () => sound.received.filter(({ method }) => method === 'GET').length;
    const before = streams();
    await sdk.connect(transport as Parameters<Client['connect']>[0]);
    // The server drops questions as long as its client has no stream.
    await until(() => streams() > before, { what: 'the stream of the client' });
    const asked = await sdk.callTool({ name: 'choose' });
    expect(asked.content).toEqual([{ type: 'text', text: 'green' }]);
    await sdk.close();
  });

  it('receives only events of its own session', async () => {
    const [mine, other] = [await client.begin('sound'), await client.begin('sound')];
    const gone = new AbortController();
    const stream = await fetch(client.urlOf('sound'), {
      headers: { ...mine, accept: 'text/event-stream', 'x-svc-api-key': gateway.workspaceKey },
      signal: gone.signal,
    });
    expect(stream.status).toBe(200);
    const token = { _meta: { progressToken: 'other-token' } };
    const called = await client.post('sound', request('tools/call', { name: 'progress', ...token }), other);
    expect(called.text).toContain('other-token');
    sound.addTool('announced');
    const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
    let seen = '';
    while (!seen.includes('list_changed')) seen += Buffer.from((await reader.read()).value ?? []).toString();
    expect(seen).not.toContain('other-token');
    gone.abort();
  });
});

describe('a server whose tools change', () => {
  it('notifies its client, serves calls meanwhile, and receives the notices of the client', async () => {
    const changing = await startMcpUpstream();
    await client.addServer('changing', changing.url);
    const sdk = new Client({ name: 'test', version: '1' }, { capabilities: { roots: { listChanged: true } } });
    sdk.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///work' }] }));
    let notices = 0;
    sdk.setNotificationHandler(ToolListChangedNotificationSchema, () => void notices++);
    const transport = new StreamableHTTPClientTransport(new URL(client.urlOf('changing')), {
      requestInit: { headers: { 'x-svc-api-key': gateway.workspaceKey } },
    });
    await sdk.connect(transport as Parameters<Client['connect']>[0]);
    await until(() => changing.received.some(({ method }) => method === 'GET'), { what: 'the stream of the client' });
    const names = async () => (await sdk.listTools()).tools.map(({ name }) => name);
    for (let round = 1; round <= 5; round++) {
      const calls = Array.from({ length: 10 }, (_, at) => sdk.callTool({ name: 'echo', arguments: { text: `${round}-${at}` } }));
      changing.addTool(`tool-${round}`);
      const said = (await Promise.all(calls)).map(({ content }) => (content as { text: string }[])[0]?.text);
      expect(said).toEqual(Array.from({ length: 10 }, (_, at) => `${round}-${at}`));
      await until(() => notices >= round, { what: `notice ${round}` });
      expect(await names()).toContain(`tool-${round}`);
      expect((await sdk.callTool({ name: `tool-${round}` })).content).toEqual([{ type: 'text', text: `tool-${round}` }]);
    }
    changing.removeTool('tool-1');
    await until(() => notices >= 6, { what: 'the notice of the removal' });
    expect(await names()).not.toContain('tool-1');
    const gone = await sdk.callTool({ name: 'tool-1' }).catch((thrown: Error) => ({ isError: true, content: thrown.message }));
    expect([gone.isError, JSON.stringify(gone.content)]).toEqual([true, expect.stringContaining('tool-1')]);
    await sdk.sendRootsListChanged();
    await until(() => changing.notices.includes('notifications/roots/list_changed'), { what: 'the notice of the client' });
    await sdk.close();
    await changing.close();
  });
});
