import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject } from '../../../core/contract/values/json/json.ts';

/** An MCP server without sessions whose tools a test can change at any time. Calls reply with the name and the arguments as JSON. */
export interface ListedToolsServer {
  readonly url: string;
  tools: JsonObject[];
  /** Requests in the order of arrival. */
  readonly received: { readonly method: string; readonly params: JsonObject; readonly headers: IncomingHttpHeaders }[];
  /** True: `tools/list` gets no reply. */
  hangs: boolean;
  /** The error of every call; null: calls succeed. */
  callError: { readonly code: number; readonly message: string } | null;
  /** The result of every call; null: its name and arguments. */
  callResult: JsonObject | null;
  /** Leaves the next call of a tool without a reply. Resolves when it arrives, with the end of its connection. */
  holdCall(): Promise<{ readonly closed: Promise<unknown> }>;
  close(): Promise<void>;
}

/** `stateless`: the server knows the revision 2026-07-28 only. Otherwise it knows 2025-11-25 only. */
export async function startListedTools(tools: JsonObject[], options: { stateless?: boolean } = {}): Promise<ListedToolsServer> {
  const { stateless = false } = options;
  let held: ((call: { closed: Promise<unknown> }) => void) | null = null;
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString() || '{}') as JsonObject;
    const params = isObject(message.params) ? message.params : {};
    const method = String(message.method ?? request.method);
    server.received.push({ method, params, headers: request.headers });
    if (method === 'tools/list' && server.hangs) return;
    if (method === 'tools/call' && held !== null) {
      held({ closed: once(response, 'close') });
      held = null;
      return;
    }
    const error = method === 'tools/call' ? server.callError : null;
    reply(response, message.id, resultOf(method, params), error ?? undefined);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const server: ListedToolsServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    tools,
    received: [],
    hangs: false,
    callError: null,
    callResult: null,
    holdCall: () =>
      new Promise((resolve) => {
        held = resolve;
      }),
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;

  function resultOf(method: string, params: JsonObject): JsonObject | null {
    const serverInfo = { name: 'listed', version: '1' };
    const complete = stateless ? { resultType: 'complete' } : {};
    if (method === 'tools/list') return { tools: server.tools, ...complete };
    if (method === 'tools/call') {
      const { name, arguments: sent = {} } = params;
      if (server.callResult !== null) return { ...server.callResult, ...complete };
      return { content: [{ type: 'text', text: JSON.stringify({ name, arguments: sent }) }], ...complete };
    }
    if (stateless && method === 'server/discover') {
      return { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo, ...complete };
    }
    if (!stateless && method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
    return method.startsWith('notifications/') ? {} : null;
  }
}

const notFound = { code: -32601, message: 'Method not found' };

function reply(response: ServerResponse, id: unknown, result: JsonObject | null, error: object = notFound): void {
  if (id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const body = result === null || error !== notFound ? { error } : { result };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
}
