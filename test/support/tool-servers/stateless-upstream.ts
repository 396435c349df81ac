import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { acceptedContent, createMcpHandler, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server';

/** An MCP server of the official SDK that knows the revision 2026-07-28 only. */
export interface StatelessUpstream {
  readonly url: string;
  /** Headers of every request in the order of arrival. */
  readonly received: IncomingHttpHeaders[];
  /** Replies to the next calls of tools instead of the server, as long as it is set. */
  override: ((response: ServerResponse) => void) | null;
  /** Sends `list_changed` of tools to open subscriptions. */
  changeTools(): void;
  close(): Promise<void>;
}

export async function startStatelessUpstream(): Promise<StatelessUpstream> {
  const handler = createMcpHandler(sampleServer, { legacy: 'reject' });
  const received: IncomingHttpHeaders[] = [];
  const http = createServer(async (request, response) => {
    received.push(request.headers);
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const body = request.method === 'POST' ? await new Response(Readable.toWeb(request) as ReadableStream).arrayBuffer() : null;
    if (upstream.override && request.headers['mcp-method'] === 'tools/call') return upstream.override(response);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const { method = '' } = request;
    const reply = await handler.fetch(
      new Request(`http://localhost${request.url}`, { method, headers, body, signal: gone.signal }),
    );
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    response.flushHeaders();
    if (reply.body === null) return void response.end();
    const stream = Readable.fromWeb(reply.body as import('node:stream/web').ReadableStream);
    stream.on('error', () => response.destroy());
    stream.pipe(response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const upstream: StatelessUpstream = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    received,
    override: null,
    changeTools: () => handler.notify.toolsChanged(),
    async close() {
      await handler.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return upstream;
}

function sampleServer(): McpServer {
  const server = new McpServer(
    { name: 'modern', version: '1' },
    { instructions: 'Be kind.', capabilities: { tools: { listChanged: true } } },
  );
  const properties = { text: { type: 'string' as const } };
  server.registerTool(
    'echo',
    { inputSchema: fromJsonSchema<{ text?: string }>({ type: 'object', properties }) },
    ({ text = '' }) => ({
      content: [{ type: 'text', text }],
    }),
  );
  server.registerTool('client', {}, (context) => ({
    content: [{ type: 'text', text: JSON.stringify(context.mcpReq.envelope) }],
  }));
  server.registerTool('progress', {}, async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    if (progressToken !== undefined) {
      await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 1 } });
    }
    return { content: [{ type: 'text', text: 'done' }] };
  });
  // Asks twice: for a name, then a model for a greeting.
  server.registerTool('ask', {}, (context) => {
    const { inputResponses, requestState } = context.mcpReq;
    const name = acceptedContent<{ name: string }>(inputResponses, 'who')?.name;
    if (name !== undefined) {
      const content = { type: 'text' as const, text: `Greet ${name}` };
      const greeting = inputRequired.createMessage({ maxTokens: 10, messages: [{ role: 'user', content }] });
      return inputRequired({ inputRequests: { greeting }, requestState: name });
    }
    const greeting = inputResponses?.greeting as { content: { text: string } } | undefined;
    if (greeting) return { content: [{ type: 'text', text: `${requestState()}: ${greeting.content.text}` }] };
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
    return inputRequired({ inputRequests: { who: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) } });
  });
  server.registerPrompt('greet', {}, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Say hi' } }] }));
  server.registerResource('readme', 'file:///readme.md', {}, (uri) => ({ contents: [{ uri: uri.href, text: '# Read me' }] }));
  return server;
}
