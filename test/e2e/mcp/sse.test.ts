import { Client as StatelessClient, StreamableHTTPClientTransport as StatelessTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  type Progress,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, echo, initialize, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { type SseUpstream, startMcpUpstream, startSseUpstream } from '../../support/tool-servers/mcp-upstream.ts';
import { until } from '../../support/until.ts';

let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let upstream: SseUpstream;
let added: { server: string; integration: string };

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([shareGateway(), startSseUpstream()]);
  client = await mcpClient(gateway);
  added = await client.addServer('old', upstream.url, { transport: 'sse' });
});
afterAll(async () => {
  await upstream?.close();
});

const reply = async (slug: string, body: unknown) => {
  const { status, text } = await client.post(slug, body);
  return { status, message: messageOf(text) };
};

describe('a server of the transport HTTP+SSE', () => {
  it('serves the client of the official SDK over Streamable HTTP, with progress', async () => {
    const sdk = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(client.urlOf('old')), {
      requestInit: { headers: { 'x-svc-api-key': gateway.workspaceKey } },
    });
    await sdk.connect(transport as Parameters<Client['connect']>[0]);
    expect(sdk.getServerVersion()).toMatchObject({ name: 'sample' });
    expect((await sdk.listTools()).tools.map(({ name }) => name)).toContain('echo');
    const seen: Progress[] = [];
    const called = await sdk.callTool({ name: 'progress' }, undefined, { onprogress: (one) => void seen.push(one) });
    expect([seen.map(({ progress }) => progress), called.content]).toEqual([[1, 2], [{ type: 'text', text: 'done' }]]);
    await sdk.close();
  });

  it('asks the client that called, in its session, whichever gateway process receives the reply', async () => {
    const names = ['ada', 'bob', 'eve', 'kim'];
    const clients = await Promise.all(
      names.map(async (name) => {
        const sdk = new Client({ name, version: '1' }, { capabilities: { sampling: {}, elicitation: {}, roots: {} } });
        sdk.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept' as const, content: { colour: name } }));
        sdk.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file:///${name}` }] }));
        sdk.setRequestHandler(CreateMessageRequestSchema, () => ({
          ...{ model: 'm', role: 'assistant' as const, content: { type: 'text' as const, text: name } },
        }));
        // Each request has a connection of its own, so that the processes share them.
        const requestInit = { headers: { 'x-svc-api-key': gateway.workspaceKey, connection: 'close' } };
        const transport = new StreamableHTTPClientTransport(new URL(client.urlOf('old')), { requestInit });
        await sdk.connect(transport as Parameters<Client['connect']>[0]);
        return sdk;
      }),
    );
    const textOf = async (sdk: Client, name: string) => ((await sdk.callTool({ name })).content as { text: string }[])[0]?.text;
    for (let round = 0; round < 3; round++) {
      const said = await Promise.all(
        clients.map(async (sdk) => [await textOf(sdk, 'choose'), await textOf(sdk, 'ask'), await textOf(sdk, 'roots')]),
      );
      expect(said).toEqual(names.map((name) => [name, `the client said ${name}`, `file:///${name}`]));
    }
    await Promise.all(clients.map((sdk) => sdk.close()));
  });

  it('sends changed lists and updates of resources on the stream of the session, until it ends', async () => {
    const sdk = new Client({ name: 'test', version: '1' });
    const seen: string[] = [];
    sdk.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => void seen.push(method));
    sdk.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void seen.push(params.uri));
    const transport = new StreamableHTTPClientTransport(new URL(client.urlOf('old')), {
      requestInit: { headers: { 'x-svc-api-key': gateway.workspaceKey } },
    });
    await sdk.connect(transport as Parameters<Client['connect']>[0]);
    expect(sdk.getServerCapabilities()).toMatchObject({ tools: { listChanged: true }, resources: { subscribe: true } });
    await sdk.subscribeResource({ uri: 'file:///readme.md' });
    await upstream.change('file:///readme.md');
    await until(() => seen.length === 2, { what: 'both notices' });
    expect(seen.sort()).toEqual(['file:///readme.md', 'notifications/tools/list_changed']);
    const session = { 'mcp-session-id': String(transport.sessionId), 'mcp-protocol-version': '2025-11-25' };
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    expect((await client.post('old', echo('b'), { ...session, 'x-svc-api-key': key })).status).toBe(404);
    await transport.terminateSession();
    expect((await client.post('old', echo('c'), session)).status).toBe(404);
    await sdk.close();
  });

  it('serves clients of 2026-07-28 without a session', async () => {
    const sdk = new StatelessClient({ name: 'stateless', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const requestInit = { headers: { 'x-svc-api-key': gateway.workspaceKey } };
    await sdk.connect(new StatelessTransport(new URL(client.urlOf('old')), { requestInit }));
    const called = await sdk.callTool({ name: 'echo', arguments: { text: 'hé' } });
    expect([sdk.getServerVersion(), called.content]).toMatchObject([{ name: 'sample' }, [{ type: 'text', text: 'hé' }]]);
    await sdk.close();
  });

  it('sends the notices to which clients of 2026-07-28 subscribe, over a connection that ends with the subscription', async () => {
    const sdk = new StatelessClient({ name: 'stateless', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const requestInit = { headers: { 'x-svc-api-key': gateway.workspaceKey } };
    await sdk.connect(new StatelessTransport(new URL(client.urlOf('old')), { requestInit }));
    const seen: string[] = [];
    sdk.setNotificationHandler('notifications/tools/list_changed', ({ method }) => void seen.push(method));
    sdk.setNotificationHandler('notifications/resources/updated', ({ params }) => void seen.push(params.uri));
    const open = upstream.streams.size;
    const subscription = await sdk.listen({ toolsListChanged: true, resourceSubscriptions: ['file:///readme.md'] });
    expect(upstream.streams.size).toBe(open + 1);
    await upstream.change('file:///readme.md');
    await until(() => seen.length === 2, { what: 'both notices' });
    expect(seen.sort()).toEqual(['file:///readme.md', 'notifications/tools/list_changed']);
    await subscription.close();
    await until(() => upstream.streams.size === open, { what: 'the end of the connection' });
    await sdk.close();
  });

  it('gives every one of many calls its own reply, over few connections', async () => {
    const ofSessions = upstream.streams.size;
    const texts = Array.from({ length: 50 }, (_, at) => `text ${at}`);
    const replies = await Promise.all(texts.map((text) => reply('old', echo(text))));
    expect(replies.map(({ message }) => [message.id, message.result.content[0].text])).toEqual(texts.map((text) => [9, text]));
    // One connection for each gateway process and caller.
    expect(upstream.streams.size - ofSessions).toBeLessThanOrEqual(2);
    expect((await client.post('old', { jsonrpc: '2.0', method: 'notifications/roots/list_changed' })).status).toBe(202);
    await until(() => upstream.received.some((body) => body.includes('roots/list_changed')), { what: 'the notice' });
  });

  it.each(['http-sse', 'sse-http'])('is found by the order %s, as is one of Streamable HTTP', async (transport) => {
    const modern = await startMcpUpstream();
    try {
      const { integration } = await client.addServer(`${transport}-old`, upstream.url, { transport });
      await client.addServer(`${transport}-new`, modern.url, { transport });
      for (const which of ['old', 'new']) {
        const called = await reply(`${transport}-${which}`, echo(which));
        expect([called.status, called.message.result?.content[0].text]).toEqual([200, which]);
      }
      expect(modern.sessions.size).toBeGreaterThan(0);
      const session = await client.begin(`${transport}-new`);
      expect(session).toHaveProperty('mcp-session-id');
      expect((await client.post(`${transport}-new`, echo('in a session'), session)).text).toContain('in a session');
      const tested = await gateway.admin.post(`/mcp-integrations/${integration}/test`, {});
      expect(tested.body).toMatchObject({ success: true });
    } finally {
      await modern.close();
    }
  });

  it('is connected again once after it has closed its streams', async () => {
    for (const stream of upstream.streams.values()) await stream.close();
    expect((await reply('old', echo('after'))).message.result.content[0].text).toBe('after');
    for (const id of upstream.streams.keys()) upstream.streams.delete(id);
    expect((await reply('old', echo('unknown session'))).message.result.content[0].text).toBe('unknown session');
  });

  it('has filtered lists, and a stream for the clients of its sessions only', async () => {
    await gateway.admin.put(`/mcp-servers/${added.server}/capabilities`, {
      capabilities: [{ name: 'fail', type: 'tool', enabled: false }],
    });
    const names = async () =>
      (await reply('old', request('tools/list'))).message.result.tools.map(({ name }: { name: string }) => name);
    await until(async () => !(await names()).includes('fail'), { what: 'the flag' });
    expect((await reply('old', callTool('fail'))).message.error.code).toBe(-32602);
    const stream = await fetch(client.urlOf('old'), {
      headers: { 'x-svc-api-key': gateway.workspaceKey, accept: 'text/event-stream', 'mcp-session-id': 'x' },
    });
    expect(stream.status).toBe(404);
  });

  it('is synchronised by the control plane', async () => {
    const synced = (await gateway.admin.post(`/mcp-integrations/${added.integration}/sync`, {})).body;
    expect(synced).toMatchObject({ success: true, sync_error: null });
  });

  it.each([
    ['another origin', 'http://169.254.169.254/latest'],
    ['another port of its host', 'http://127.0.0.1:1/messages'],
    ['another scheme', 'file:///etc/passwd'],
  ])('cannot name an endpoint of %s', async (what, endpoint) => {
    const other = await startSseUpstream();
    other.endpoint = endpoint;
    await client.addServer(what.split(' ')[1] as string, other.url, { transport: 'sse' });
    const refused = await reply(what.split(' ')[1] as string, initialize);
    expect([refused.status, refused.message.error]).toMatchObject([502, { data: { code: 'upstream_invalid' } }]);
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('gives each of two callers a connection of their own', async () => {
    const { key } = await gateway.admin.createKey({ scopes: ['mcp.invoke'] });
    const before = new Set(upstream.streams.keys());
    const [mine, other] = await Promise.all([
      reply('old', echo('mine')),
      client.post('old', echo('other'), { 'x-svc-api-key': key }),
    ]);
    expect([mine.message.result.content[0].text, messageOf(other.text).result.content[0].text]).toEqual(['mine', 'other']);
    expect([...upstream.streams.keys()].filter((id) => !before.has(id)).length).toBeGreaterThan(0);
    // A response on the stream of one caller, under the id of a request of the other, is dropped.
    upstream.onMessage = ({ id }, own) => {
      for (const [session, stream] of upstream.streams) {
        const text = session === own ? 'own' : 'of another session';
        void stream.send({ jsonrpc: '2.0', id: id as number, result: { content: [{ type: 'text', text }] } });
      }
      return true;
    };
    const replies = await Promise.all([reply('old', echo('a')), client.post('old', echo('b'), { 'x-svc-api-key': key })]);
    upstream.onMessage = null;
    expect([replies[0].message.result.content, messageOf(replies[1].text).result.content]).toEqual(
      Array(2).fill([{ type: 'text', text: 'own' }]),
    );
  });

  it('leads to 502 if it closes its stream during a call, and the call is not sent again', async () => {
    const sent = upstream.received.length;
    upstream.onMessage = (message, own) => {
      if (message.method === 'tools/call') void upstream.streams.get(own)?.close();
      return message.method === 'tools/call';
    };
    const lost = await reply('old', echo('lost'));
    upstream.onMessage = null;
    expect([lost.status, lost.message.error.data.code]).toEqual([502, 'upstream_reset']);
    expect(upstream.received.slice(sent).filter((body) => body.includes('"lost"'))).toHaveLength(1);
    expect((await reply('old', echo('next'))).message.result.content[0].text).toBe('next');
  });

  it('leads to 502 if it sends a message with too many values, which is not parsed', async () => {
    const content = Array.from({ length: 500_000 }, () => ({}));
    upstream.onMessage = (message, own) => {
      const isCall = message.method === 'tools/call';
      if (isCall) void upstream.streams.get(own)?.send({ jsonrpc: '2.0', id: message.id as number, result: { content } });
      return isCall;
    };
    const refused = await reply('old', echo('large'));
    upstream.onMessage = null;
    expect([refused.status, refused.message.error.data.code]).toEqual([502, 'upstream_invalid']);
    expect((await reply('old', echo('next'))).message.result.content[0].text).toBe('next');
  });

  it('cannot keep a call open with events that never end, and gets one reply at a time to its requests', async () => {
    await client.addServer('slow', upstream.url, { transport: 'sse', configurations: { request_timeout: 500 } });
    await reply('slow', echo('connected'));
    let isFlooding = true;
    upstream.onMessage = (message, own) => {
      if (message.method !== 'tools/call') return message.method === 'notifications/cancelled' || message.method === undefined;
      const flood = async (): Promise<void> => {
        while (isFlooding && upstream.streams.has(own)) {
          await upstream.streams.get(own)?.send({ jsonrpc: '2.0', id: 'flood', method: 'ping' });
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      void flood();
      return true;
    };
    const never = await reply('slow', echo('never'));
    isFlooding = false;
    expect([never.status, never.message.error.data.code]).toEqual([408, 'request_timeout']);
    await until(() => upstream.received.some((body) => body.includes('notifications/cancelled')), { what: 'the cancellation' });
    expect(upstream.received).toContain('{"jsonrpc":"2.0","id":"flood","result":{}}');
    upstream.onMessage = null;
    expect((await reply('slow', echo('after'))).message.result.content[0].text).toBe('after');
  });
});
