import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { SubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';

/** An MCP server of the official SDK behind HTTP, with the requests that it received. */
export interface McpUpstream {
  readonly url: string;
  /** Every request in the order of arrival. */
  readonly received: { method: string; path: string; headers: IncomingHttpHeaders }[];
  /** Open sessions by id. */
  readonly sessions: Map<string, StreamableHTTPServerTransport>;
  /** Replies to the next requests instead of the server, as long as it is set. */
  override: ((request: IncomingMessage, response: ServerResponse) => void) | null;
  /** Adds a tool while sessions are open, so that the server sends `list_changed`. */
  addTool(name: string): void;
  /** Removes a tool that was added. */
  removeTool(name: string): void;
  /** Methods of the notices of clients about changes. */
  readonly notices: string[];
  close(): Promise<void>;
}

interface McpUpstreamOptions {
  /** True: the tool `credential` returns the header `authorization` of its request. */
  showsCredential?: boolean;
  replies?: 'json' | 'events';
  sessions?: boolean;
  /** Returns the challenge of a request that is rejected with 401, else null. */
  authorise?: (request: IncomingMessage) => Promise<string | null>;
  /** Returns the JSON document at another path; null if there is none. */
  page?: (path: string) => object | null;
}

/** `replies`: the form of replies to single requests. `sessions` false: the server keeps no sessions. */
export async function startMcpUpstream(options: McpUpstreamOptions = {}): Promise<McpUpstream> {
  const { replies = 'events', sessions: hasSessions = true } = options;
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const servers = new Set<McpServer>();
  const received: McpUpstream['received'] = [];
  const added: [string, { remove(): void }][] = [];

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const server = sampleServer();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: hasSessions ? () => randomUUID() : undefined,
      enableJsonResponse: replies === 'json',
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    } as ConstructorParameters<typeof StreamableHTTPServerTransport>[0]);
    if (options.showsCredential) {
      server.registerTool('credential', {}, ({ requestInfo }) => ({
        content: [{ type: 'text', text: String(requestInfo?.headers.authorization) }],
      }));
    }
    servers.add(server);
    server.server.fallbackNotificationHandler = async ({ method }) => void upstream.notices.push(method);
    await server.connect(transport as Parameters<McpServer['connect']>[0]);
    return transport;
  };

  const http: Server = createServer((request, response) => void serve(request, response));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const page = options.page?.(request.url ?? '') ?? null;
    if (page !== null) return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
    received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    if (upstream.override) return upstream.override(request, response);
    const challenge = (await options.authorise?.(request)) ?? null;
    if (challenge !== null) return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (id !== undefined && !known) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
      return;
    }
    await (known ?? (await open())).handleRequest(request, response);
  }
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const upstream: McpUpstream = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    received,
    sessions,
    override: null,
    addTool(name) {
      for (const server of servers) {
        added.push([name, server.registerTool(name, {}, () => ({ content: [{ type: 'text', text: name }] }))]);
      }
    },
    removeTool(name) {
      for (const [known, tool] of added) if (known === name) tool.remove();
    },
    notices: [],
    async close() {
      http.closeAllConnections();
      await Promise.all([...servers].map((server) => server.close()));
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return upstream;
}

/** The same server over HTTP+SSE, the transport of the revision 2024-11-05. */
export interface SseUpstream {
  readonly url: string;
  /** Bodies of the messages that the server received. */
  /** Headers of these messages. */
  readonly headers: IncomingHttpHeaders[];
  readonly received: string[];
  /** Open streams. */
  readonly streams: Map<string, SSEServerTransport>;
  /** Endpoint that new streams name instead of their own, and nothing else. */
  endpoint: string | null;
  /** Adds a tool and updates a resource, in all sessions. */
  change(uri: string): Promise<void>;
  /** Receives each message with the id of its stream. True: the server does not handle it. */
  onMessage: ((message: JsonObject, stream: string) => boolean) | null;
  close(): Promise<void>;
}

export async function startSseUpstream(): Promise<SseUpstream> {
  const streams = new Map<string, SSEServerTransport>();
  let changes = 0;
  const servers = new Set<McpServer>();
  const http = createServer((request, response) => {
    if (request.method === 'GET') {
      if (upstream.endpoint !== null) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void response.write(`event: endpoint\ndata: ${upstream.endpoint}\n\n`);
      }
      const transport = new SSEServerTransport('/messages', response);
      streams.set(transport.sessionId, transport);
      const server = sampleServer();
      servers.add(server);
      server.registerTool('roots', {}, async () => ({
        content: [{ type: 'text', text: String((await server.server.listRoots()).roots[0]?.uri) }],
      }));
      server.server.registerCapabilities({ resources: { subscribe: true } });
      server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
      response.on('close', () => {
        streams.delete(transport.sessionId);
        servers.delete(server);
      });
      return void server.connect(transport as Parameters<McpServer['connect']>[0]);
    }
    const id = new URL(request.url ?? '', 'http://localhost').searchParams.get('sessionId') ?? '';
    const known = streams.get(id);
    if (!known) return void response.writeHead(404).end();
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      upstream.received.push(body);
      upstream.headers.push(request.headers);
      const message = JSON.parse(body) as JsonObject;
      if (upstream.onMessage?.(message, id)) return void response.writeHead(202).end();
      void known.handlePostMessage(request, response, message);
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const upstream: SseUpstream = {
    ...{
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`,
      received: [],
      headers: [],
      streams,
      endpoint: null,
    },
    onMessage: null,
    async change(uri) {
      for (const server of servers) {
        server.registerTool(`changed-${++changes}`, {}, () => ({ content: [] }));
        await server.server.sendResourceUpdated({ uri });
      }
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return upstream;
}

function sampleServer(): McpServer {
  const server = new McpServer(
    { name: 'sample', version: '1.2.3' },
    { capabilities: { logging: {} }, instructions: 'Use the tools.' },
  );
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
  server.registerTool('echo', { description: 'Echoes', inputSchema: { text: z.string() } }, ({ text: said }) => text(said));
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => text(String(a + b)));
  server.registerTool('fail', {}, () => ({ ...text('it failed'), isError: true }));
  server.registerTool('progress', {}, async (extra) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken !== undefined) {
      for (const progress of [1, 2]) {
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } });
      }
    }
    return text('done');
  });
  server.registerTool('ask', {}, async () => {
    const asked = await server.server.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'Which model are you?' } }],
      maxTokens: 10,
    });
    return text(`the client said ${asked.content.type === 'text' ? asked.content.text : ''}`);
  });
  server.registerTool('choose', {}, async () => {
    const schema = { type: 'object' as const, properties: { colour: { type: 'string' as const } } };
    const chosen = await server.server.elicitInput({ message: 'Which colour?', requestedSchema: schema });
    return text(String(chosen.content?.colour));
  });
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Say hi to ${name}` } }],
  }));
  server.registerResource('readme', 'file:///readme.md', { mimeType: 'text/markdown' }, (uri) => ({
    contents: [{ uri: uri.href, text: '# Read me' }],
  }));
  const template = new ResourceTemplate('file:///logs/{day}', {
    list: undefined,
    complete: { day: () => ['monday', 'tuesday'] },
  });
  server.registerResource('logs', template, {}, (uri) => ({ contents: [{ uri: uri.href, text: 'a log' }] }));
  return server;
}
