import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient } from '../../support/clients/mcp-client.ts';
import { type SharedGateway, shareGateway } from '../../support/product/shared-gateway.ts';
import { until } from '../../support/until.ts';

/** Questions of servers that a guardrail denies: the server gets an error in place of the reply of its client. */
let gateway: SharedGateway;
let client: Awaited<ReturnType<typeof mcpClient>>;
let server: Server;
/** Replies of clients, with the session of the message. */
let replies: { readonly session: unknown; readonly message: JsonObject }[] = [];
let stream: ServerResponse | null = null;

const event = (message: JsonObject) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
const question = event({ id: 'q', method: 'elicitation/create', params: { message: 'forbidden', requestedSchema: {} } });
const refused = { jsonrpc: '2.0', id: 'q', error: { code: -32446, message: 'Request blocked by guardrail' } };
const initialised = { protocolVersion: '2025-11-25', serverInfo: { name: 's', version: '1' }, capabilities: { tools: {} } };

/** A server with sessions that asks on the stream of a session and in each call, and ends the stream of a call after a reply to its question. */
function serveSessions(request: IncomingMessage, response: ServerResponse, message: JsonObject | null): void {
  if (message === null || message.method === 'tools/call') {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(question);
    stream = response;
    return;
  }
  if (message.method === 'initialize') {
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: initialised }));
    return;
  }
  response.writeHead(202).end();
  if (message.method !== undefined) return;
  replies.push({ session: request.headers['mcp-session-id'], message });
  stream?.end();
}

/** The same over the transport HTTP+SSE, without an end of calls. */
function serveSse(_request: IncomingMessage, response: ServerResponse, message: JsonObject | null): void {
  if (message === null) {
    stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
    stream.write('event: endpoint\ndata: /sse\n\n');
    return;
  }
  response.writeHead(202).end();
  if (message.method === 'initialize') stream?.write(event({ id: message.id, result: initialised }));
  else if (message.method === 'tools/call') stream?.write(question);
  else if (message.method === undefined) replies.push({ session: 'one', message });
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const message = chunks.length === 0 ? null : (JSON.parse(Buffer.concat(chunks).toString()) as JsonObject);
      (request.url === '/sse' ? serveSse : serveSessions)(request, response, message);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await shareGateway();
  client = await mcpClient(gateway);
  const check = { id: 'default.contains', parameters: { words: ['forbidden'], operator: 'none' } };
  const fields = { workspace_id: gateway.workspaceId, name: 'Denies', target: 'mcp_tools', checks: [check] };
  const { slug } = await gateway.admin.create('/guardrails', { ...fields, actions: { deny: true } });
  const configurations = { output_guardrails: [slug], request_timeout: 1000 };
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await client.addServer('asking', `${origin}/mcp`, { configurations });
  await client.addServer('asking-over-sse', `${origin}/sse`, { configurations, transport: 'sse' });
});
afterAll(() => {
  server?.closeAllConnections();
  server?.close();
});
beforeEach(() => {
  replies = [];
});

/** Opens the stream of a session. Returns the function that closes it, and its text until then. */
async function listen(slug: string, session: Record<string, string>) {
  const gone = new AbortController();
  const headers = { accept: 'text/event-stream', 'x-svc-api-key': gateway.workspaceKey, ...session };
  const { body } = await fetch(client.urlOf(slug), { headers, signal: gone.signal });
  let text = '';
  const read = (async () => {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString();
  })().catch(() => undefined);
  return async () => {
    gone.abort();
    await read;
    return text;
  };
}

describe.each(['asking', 'asking-over-sse'])('a denied question of the server %s', (slug) => {
  it('ends the call on whose stream it arrives with one error, and the server gets an error', async () => {
    const session = await client.begin(slug);
    const { text } = await client.post(slug, callTool('t'), session);
    const errors = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string));
    expect(errors).toEqual([{ jsonrpc: '2.0', id: 9, error: expect.objectContaining({ code: -32446 }) }]);
    expect(replies).toEqual([{ session: 'one', message: refused }]);
  });

  it('is not sent on the stream of a session, and the server gets an error', async () => {
    const session = await client.begin(slug);
    const close = await listen(slug, session);
    if (slug === 'asking-over-sse') stream?.write(question);
    await until(() => replies.length > 0, { what: 'an error for the server' });
    expect(replies).toEqual([{ session: 'one', message: refused }]);
    expect(await close()).toBe(': open\n\n');
  });
});
