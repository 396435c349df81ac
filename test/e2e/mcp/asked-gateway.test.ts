import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient, messageOf, request } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';

/** A server that asks without regard to the capabilities of its client, as servers of the Python SDK do. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let server: Server;
/** Replies to questions, with the headers of their requests. */
const replies: { readonly session: unknown; readonly revision: unknown; readonly message: JsonObject }[] = [];
/** The identity of the caller in the last reply to a question. */
let claims: unknown;
const pair = await generateKeyPair('RS256');
let asking: { readonly stream: ServerResponse; readonly id: unknown; readonly result?: JsonObject } | null = null;
let question: JsonObject = {};
/** Events that the server sends before its question. */
let before = '';

/** The streams of sessions that the gateway opened, at the path that has them. */
const streams: ServerResponse[] = [];
let refusedStreams = 0;

const event = (message: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const initialised = { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' }, capabilities: { tools: {} } };
const results: Record<string, JsonObject> = {
  initialize: initialised,
  'tools/list': { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] },
};

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    if (incoming.method === 'GET' && incoming.url === '/withheld') return;
    if (incoming.method === 'GET' && incoming.url === '/streams' && incoming.headers['mcp-session-id'] === 'one') {
      streams.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
      return response.flushHeaders();
    }
    if (incoming.method === 'GET') refusedStreams++;
    if (incoming.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, ...message } = (await json(incoming)) as JsonObject;
    if (method !== 'initialize' && incoming.headers['mcp-session-id'] !== 'one') return void response.writeHead(400).end();
    const result = results[String(method)];
    if (incoming.url === '/lists' && method === 'tools/list') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event(question));
      asking = { stream: response, id, result };
      return;
    }
    if (result !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    }
    if (method === 'tools/call') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      const asked = incoming.url === '/streams' ? streams.at(-1) : response;
      asked?.write(before + event(question));
      asking = { stream: response, id };
      return;
    }
    response.writeHead(202).end();
    if (method !== undefined) return;
    const { 'mcp-session-id': session, 'mcp-protocol-version': revision } = incoming.headers;
    claims = incoming.headers['x-user-claims'];
    replies.push({ session, revision, message: { id, ...message } });
    const text = JSON.stringify(message.error ?? message.result);
    const content = { content: [{ type: 'text', text }] };
    asking?.stream.end(event({ id: asking.id, result: asking.result ?? content }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await shareGateway();
  client = await mcpClient(gateway);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await client.addServer('asks-gateway', `${origin}/mcp`);
  await client.addServer('asks-on-stream', `${origin}/streams`);
  await client.addServer('asks-withheld', `${origin}/withheld`);
  const keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }];
  await client.addServer('asks-persons', `${origin}/streams`, {
    configurations: {
      jwt_validation: { jwks: { keys } },
      user_identity_forwarding: { method: 'claims_header', include_claims: ['sub', 'email'] },
    },
  });
  await client.addServer('asks-in-lists', `${origin}/lists`);
  for (const [slug, mcp_server_id] of Object.entries({ 'asks-virtual': 'asks-gateway', 'lists-virtual': 'asks-in-lists' })) {
    const fields = { name: slug, slug, workspace_id: gateway.workspaceId };
    await gateway.admin.create('/mcp-virtual-servers', { ...fields, tools: [{ mcp_server_id, tool: '*' }] });
  }
});
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});

const stateless = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'ask' };
const refused = { code: -32601, message: 'Method not found' };

describe('questions in a session of the gateway, which offers no capabilities', () => {
  it.each<[string, string, Record<string, string>, JsonObject, JsonObject]>([
    ['of a client without a session', 'asks-gateway', {}, { method: 'elicitation/create', params: {} }, { error: refused }],
    ['of a client of 2026-07-28', 'asks-gateway', stateless, { method: 'roots/list' }, { error: refused }],
    ['of a virtual server', 'asks-virtual', {}, { method: 'sampling/createMessage', params: {} }, { error: refused }],
    [
      'of more than 64 KiB',
      'asks-gateway',
      {},
      { method: 'sampling/createMessage', params: { text: 'x'.repeat(70_000) } },
      { error: refused },
    ],
    [
      'of more than 64 KiB, with the method behind the parameters',
      'asks-gateway',
      {},
      { params: { text: 'x'.repeat(70_000) }, method: 'sampling/createMessage' },
      { error: refused },
    ],
    ['whether the gateway is alive', 'asks-gateway', {}, { method: 'ping' }, { result: {} }],
  ])('get a reply at once, and do not reach a client: %s', async (_name, slug, headers, asked, reply) => {
    question = { id: 'q', ...asked };
    const { status, text } = await client.post(slug, callTool('ask'), headers);
    expect([status, messageOf(text)]).toMatchObject([
      200,
      { id: 9, result: { content: [{ type: 'text', text: JSON.stringify(reply.error ?? reply.result) }] } },
    ]);
    expect(text).not.toContain('"method"');
    const message = { jsonrpc: '2.0', id: 'q', ...reply };
    expect(replies.pop()).toEqual({ session: 'one', revision: '2025-11-25', message });
  });

  it('get a reply on the stream of the session too, which the gateway opens once', async () => {
    for (const method of ['roots/list', 'sampling/createMessage']) {
      question = { id: method, method };
      before = event({ method: 'notifications/tools/list_changed' });
      const { text } = await client.post('asks-on-stream', callTool('ask'));
      before = '';
      expect(messageOf(text).result.content[0].text).toBe(JSON.stringify(refused));
      expect(replies.pop()).toMatchObject({ session: 'one', revision: '2025-11-25', message: { id: method, error: refused } });
    }
    expect(streams).toHaveLength(1);
  });

  it('get a reply on the stream with the credentials of the newest call', async () => {
    const opened = streams.length;
    question = { id: 'q', method: 'roots/list' };
    for (const email of ['old@example.com', 'new@example.com']) {
      const token = await new SignJWT({ sub: 'ada', email })
        .setProtectedHeader({ alg: 'RS256', kid: 'one' })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(pair.privateKey);
      await client.post('asks-persons', callTool('ask'), { authorization: `Bearer ${token}` });
      expect(JSON.parse(String(claims))).toEqual({ sub: 'ada', email });
    }
    expect(streams.length - opened).toBe(1);
    replies.length = 0;
  });

  it('get a reply in the list of tools that the gateway reads itself', async () => {
    question = { id: 'q', method: 'ping' };
    const { text } = await client.post('lists-virtual', request('tools/list'));
    expect(messageOf(text).result.tools).toMatchObject([{ name: 'ask' }]);
    const message = { jsonrpc: '2.0', id: 'q', result: {} };
    expect(replies.pop()).toEqual({ session: 'one', revision: '2025-11-25', message });
  });

  it('are not awaited on a stream that the server has refused in the MCP session', async () => {
    question = { id: 'q', method: 'ping' };
    await client.post('asks-gateway', callTool('ask'));
    const before = refusedStreams;
    await client.post('asks-gateway', callTool('ask'));
    expect([before > 0, refusedStreams - before]).toEqual([true, 0]);
    replies.length = 0;
  });

  it('get a reply at servers that send no head of that stream', async () => {
    question = { id: 'q', method: 'roots/list' };
    const { text } = await client.post('asks-withheld', callTool('ask'));
    expect(messageOf(text).result.content[0].text).toBe(JSON.stringify(refused));
    replies.pop();
  });

  it.each([
    ['an object', { a: 1 }],
    ['null', null],
    ['true', true],
  ])('get no reply if their id is %s', async (_name, id) => {
    question = { id: 'q', method: 'roots/list' };
    before = event({ id, method: 'roots/list' });
    const { text } = await client.post('asks-gateway', callTool('ask'));
    before = '';
    expect(text).not.toContain('"method"');
    expect(replies.splice(0).map(({ message }) => message.id)).toEqual(['q']);
  });
});
