import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { until } from '../../support/until.ts';

/** Streams of `subscriptions/listen`, whose messages an MCP server chooses, below guardrails on every tool. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
/** Messages on the stream of the server. */
let sent: JsonObject[] = [];

const subscription = { 'io.modelcontextprotocol/subscriptionId': 9 };
const event = (message: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const changed = (params: JsonObject) => ({ method: 'notifications/tools/list_changed', params });
const results: Record<string, JsonObject> = {
  initialize: { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' }, capabilities: { tools: {} } },
  'tools/list': { tools: [] },
  'tools/call': { content: [{ type: 'text', text: 'forbidden' }] },
};

/** Without sessions at `/stateless`, and with one at `/sessions`. */
const server = createServer(async (incoming, response) => {
  const body = Buffer.concat(await incoming.toArray()).toString();
  const { id, method } = (body === '' ? {} : JSON.parse(body)) as JsonObject;
  const { 'mcp-session-id': session } = incoming.headers;
  if (incoming.method === 'DELETE') return void response.writeHead(200).end();
  if (method === 'subscriptions/listen' ? incoming.url === '/stateless' : incoming.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(sent.map(event).join(''));
  }
  if (incoming.url === '/sessions' && method !== 'initialize' && session !== 'one') return void response.writeHead(400).end();
  if (id === undefined) return void response.writeHead(202).end();
  const result = results[String(method)];
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(incoming.url === '/sessions' ? { 'mcp-session-id': 'one' } : {}),
  });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) }));
});

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const post = (slug: string, message: ReturnType<typeof request>) => {
  const { name } = message.params;
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': message.method };
  return client.post(
    slug,
    { ...message, params: { ...message.params, _meta: meta } },
    { ...headers, ...(name === undefined ? {} : { 'mcp-name': String(name) }) },
  );
};
const listen = async (slug: string) =>
  (await post(slug, request('subscriptions/listen', { notifications: { toolsListChanged: true } }))).text
    .split('\n\n')
    .flatMap((frame) => (frame.startsWith('data: ') ? [JSON.parse(frame.slice(6))] : []));

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await shareGateway();
  client = await mcpClient(gateway);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const saved = await gateway.admin.create('/guardrails', {
    ...{ workspace_id: gateway.workspaceId, name: 'forbidden', target: 'mcp_tools', actions: { deny: true } },
    checks: [{ id: 'default.contains', parameters: { words: ['forbidden'], operator: 'none' } }],
  });
  const mcp_servers: JsonObject = {};
  for (const kind of ['stateless', 'sessions']) {
    const { server: id } = await client.addServer(`listen-${kind}`, `${origin}/${kind}`);
    mcp_servers[id] = { run_on: ['output'] };
  }
  await client.addServer('listen-unguarded', `${origin}/sessions`);
  await gateway.admin.put(`/guardrails/${String(saved.id)}/mcp-servers`, { mcp_servers });
  for (const kind of ['stateless', 'sessions']) {
    await until(async () => messageOf((await post(`listen-${kind}`, callTool('any'))).text).error?.code === -32446, {
      what: 'the guardrail',
    });
  }
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe.each(['stateless', 'sessions'])('a subscription at a server of the kind %s', (kind) => {
  it('passes notices that guardrails allow, and drops denied ones', async () => {
    sent = [changed({ text: 'forbidden' }), changed({ text: 'fine' })];
    const messages = await listen(`listen-${kind}`);
    const notices = messages.filter(({ method }) => method === 'notifications/tools/list_changed');
    expect(notices.map(({ params }) => params.text)).toEqual(['fine']);
  });

  it('passes no message of the server that could be the reply to another request', async () => {
    const content = [{ type: 'text', text: 'fine' }];
    sent = [
      { id: 4, result: { content, _meta: subscription } },
      { id: 4, error: { code: 1, message: 'fine' }, params: { _meta: subscription } },
      changed({ text: 'fine' }),
    ];
    const messages = await listen(`listen-${kind}`);
    expect(messages.filter(({ id }) => id !== undefined && id !== 9)).toEqual([]);
    expect(JSON.stringify(messages)).toContain('list_changed');
  });
});

it('a subscription without guardrails in a session passes no notice that has too many values to be parsed', async () => {
  sent = [changed({ text: 'fine' }), changed({ values: Array.from({ length: 400_001 }, () => ({})) }), changed({ text: 'late' })];
  const messages = await listen('listen-unguarded');
  const notices = messages.filter(({ method }) => method === 'notifications/tools/list_changed');
  expect(notices.map(({ params }) => params.text)).toEqual(['fine', 'late']);
});
