import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { type SharedGateway, shareGateway } from '../product/shared-gateway.ts';
import { type ListedToolsServer, startListedTools } from '../tool-servers/listed-tools-server.ts';
import { until } from '../until.ts';

/** MCP servers with given tools behind a gateway, and clients of the official SDK. */
export interface ToolClients {
  readonly gateway: SharedGateway;
  upstream(tools: JsonObject[], options?: Parameters<typeof startListedTools>[1]): Promise<ListedToolsServer>;
  /** Adds a server of a new integration. Returns their ids. */
  addServer(slug: string, url: string, fields?: JsonObject): Promise<{ server: string; integration: string }>;
  connect(slug: string, key?: string): Promise<Client>;
  /** Returns the log of the only call with this trace. */
  logOf(trace: string | null): Promise<JsonObject>;
  /** Sends a message without the SDK. */
  post(
    slug: string,
    method: string,
    params?: JsonObject,
    headers?: Record<string, string>,
    // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  ): Promise<{ status: number; trace: string | null; body: any }>;
  /** Closes all clients and servers. */
  close(): Promise<void>;
}

export async function startToolClients(): Promise<ToolClients> {
  const opened: { close(): Promise<unknown> }[] = [];
  const gateway = await shareGateway();
  const { workspaceId: workspace_id } = gateway;
  const workspaceSlug: string = (await gateway.admin.get(`/admin/workspaces/${workspace_id}`)).body.slug;
  const urlOf = (slug: string) => `${gateway.origin}/${workspaceSlug}/${slug}/mcp`;
  return {
    gateway,
    async upstream(tools, options) {
      const server = await startListedTools(tools, options);
      opened.push(server);
      return server;
    },
    async addServer(slug, url, fields = {}) {
      const made = await gateway.admin.create('/mcp-integrations', {
        ...{ name: slug, slug: `${slug}-${workspaceSlug}`, url, transport: 'http', auth_type: 'none', workspace_id },
        ...fields,
      });
      const server = await gateway.admin.create('/mcp-servers', { name: slug, slug, workspace_id, mcp_integration_id: made.id });
      return { server: String(server.id), integration: String(made.id) };
    },
    async connect(slug, key = gateway.workspaceKey) {
      const client = new Client({ name: 'test', version: '1' });
      const transport = new StreamableHTTPClientTransport(new URL(urlOf(slug)), {
        requestInit: { headers: { 'x-svc-api-key': key } },
      });
      await client.connect(transport as Parameters<Client['connect']>[0]);
      opened.push(client);
      return client;
    },
    logOf: (trace) =>
      until(async () => (await gateway.admin.get(`/logs?trace_id=${trace}&workspace_id=${workspace_id}`)).body.data[0], {
        what: 'a log of the call',
      }),
    async post(slug, method, params = {}, headers = {}) {
      const reply = await fetch(urlOf(slug), {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'x-svc-api-key': gateway.workspaceKey, ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      return {
        status: reply.status,
        trace: reply.headers.get('x-svc-trace-id'),
        body: JSON.parse((await reply.text()) || 'null'),
      };
    },
    async close() {
      for (const one of opened.reverse()) await one.close();
    },
  };
}

/** A tool with one text as argument. */
export const tool = (name: string, description = `Does ${name}`, more: JsonObject = {}): JsonObject => ({
  ...{ name, description, inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
  ...more,
});

export const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

/** Returns the call that a tool of a `ListedToolsServer` received and sent back. */
export const sent = (result: unknown) => JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? '');
