import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient, messageOf } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { until } from '../../support/until.ts';

/** A server that ends the calls of a session with it, as servers of the SDKs do. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let begun = 0;
const calls: { readonly session: unknown; readonly response: ServerResponse; readonly id: unknown }[] = [];
const initialised = { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' }, capabilities: { tools: {} } };
const event = (id: unknown, result: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;

const server = createServer(async (request, response) => {
  const session = request.headers['mcp-session-id'];
  if (request.method === 'DELETE') {
    for (const call of calls) if (call.session === session) call.response.end();
    return void response.writeHead(200).end();
  }
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params } = (await json(request)) as { id?: unknown; method: string; params: { name: string } };
  if (id === undefined) return void response.writeHead(202).end();
  const headers = method === 'initialize' ? { 'mcp-session-id': `session-${++begun}` } : {};
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  if (method === 'initialize') response.end(event(id, initialised));
  else if (params.name === 'quick') response.end(event(id, { content: [{ type: 'text', text: String(session) }] }));
  else {
    response.flushHeaders();
    calls.push({ session, response, id });
  }
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await shareGateway();
  client = await mcpClient(gateway);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('a call goes on in a session of the gateway that another one has replaced', async () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { integration } = await client.addServer('replaced-sessions', `${origin}/mcp`);
  const running = client.post('replaced-sessions', callTool('long'));
  const call = await until(() => calls[0], { what: 'the call' });
  await gateway.admin.put(`/mcp-integrations/${integration}`, { configurations: { headers: { 'x-changed': 'yes' } } });
  await until(async () => (await client.post('replaced-sessions', callTool('quick'))).text.includes('session-2'), {
    what: 'a session with the changed header',
  });
  call.response.end(event(call.id, { content: [{ type: 'text', text: 'done' }] }));
  expect(messageOf((await running).text)).toMatchObject({ result: { content: [{ text: 'done' }] } });
});
