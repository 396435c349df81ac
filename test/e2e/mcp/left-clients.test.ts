import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { until, within } from '../../support/until.ts';

/** Clients that disconnect while the gateway prepares their request at a server with sessions. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
/** The requests that the server has not replied to. */
const held: { readonly method: string; readonly response: ServerResponse; readonly id: unknown }[] = [];
let subscribed = 0;
/** The tools that were called. */
const called: unknown[] = [];
const ended: unknown[] = [];
const event = (message: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const started = { 'content-type': 'application/json', 'mcp-session-id': 'one' };
const result = { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' }, capabilities: {} };

const server = createServer(async (incoming, response) => {
  if (incoming.method === 'DELETE') {
    ended.push(incoming.url);
    return void response.writeHead(200).end();
  }
  const body = Buffer.concat(await incoming.toArray()).toString();
  const { id, method, params } = (body === '' ? { method: 'GET' } : JSON.parse(body)) as JsonObject;
  if (method === 'GET' && incoming.url === '/resources') {
    return void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  }
  if (method !== 'initialize' && incoming.headers['mcp-session-id'] !== 'one') return void response.writeHead(400).end();
  if (method === 'resources/subscribe') subscribed++;
  if (method === 'tools/call') called.push((params as JsonObject).name);
  const isHeld = incoming.url === '/calls' && method === 'initialize';
  if (isHeld || method === 'GET' || method === 'resources/subscribe') return void held.push({ method, response, id });
  if (id === undefined) return void response.writeHead(202).end();
  response.writeHead(200, started);
  const reply = method === 'initialize' ? { result } : { error: { code: -32601, message: 'no' } };
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await shareGateway();
  client = await mcpClient(gateway);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const kind of ['stream', 'resources', 'calls']) await client.addServer(`left-${kind}`, `${origin}/${kind}`);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
/** Begins a subscription, and disconnects when the server has a request that it holds. Returns that request. */
function leaveSubscription(slug: string, notifications: JsonObject) {
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' };
  return leave(slug, request('subscriptions/listen', { notifications, _meta: meta }), headers);
}

async function leave(slug: string, message: unknown, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  const reply = fetch(client.urlOf(slug), {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'x-svc-api-key': gateway.workspaceKey,
      ...headers,
    },
    body: JSON.stringify(message),
  }).catch(() => null);
  const found = await until(() => held.shift(), { what: 'the request of the gateway' });
  leaving.abort();
  await reply;
  // The gateway has read the end of the connection before these.
  for (let one = 0; one < 3; one++) await client.post('left-stream', request('ping'));
  return found;
}

it('a subscription ends with a client that left before the stream of the server was open', async () => {
  const { response } = await leaveSubscription('left-stream', { toolsListChanged: true });
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  await within(once(response, 'close'), 'the end of the stream');
  await until(() => ended.includes('/stream'), { what: 'the end of the session' });
});

it('a subscription to resources ends with a client that left, and subscribes to no more of them', async () => {
  const { response, id } = await leaveSubscription('left-resources', { resourceSubscriptions: ['file:///one', 'file:///two'] });
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event({ id, result: {} }));
  await until(() => ended.includes('/resources'), { what: 'the end of the session' });
  expect(subscribed).toBe(1);
});

it('a call of a client that left before the session was open does not reach the server', async () => {
  const { response, id } = await leave('left-calls', callTool('left'));
  response.writeHead(200, started).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  await client.post('left-calls', callTool('other'));
  expect(called).toEqual(['other']);
});
