import { expect } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import type { SharedGateway } from '../product/shared-gateway.ts';

export const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

export const request = (method: string, params: JsonObject = {}, id = 9) => ({ jsonrpc: '2.0', id, method, params });
export const callTool = (name: string, sent: JsonObject = {}) => request('tools/call', { name, arguments: sent });
export const echo = (text: string) => callTool('echo', { text });

/** The message of a reply, from JSON or from the first event with data. */
export const messageOf = (text: string) => JSON.parse(text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? 'null'));

/** Adds MCP servers to a gateway, and calls them without an SDK. */
export async function mcpClient(gateway: SharedGateway) {
  const workspaceSlug: string = (await gateway.admin.get(`/admin/workspaces/${gateway.workspaceId}`)).body.slug;
  const urlOf = (slug: string) => `${gateway.origin}/${workspaceSlug}/${slug}/mcp`;

  async function addServer(slug: string, url: string, fields: JsonObject = {}): Promise<{ server: string; integration: string }> {
    const workspace_id = gateway.workspaceId;
    const made = await gateway.admin.create('/mcp-integrations', {
      ...{ name: slug, slug: `${slug}-${workspaceSlug}`, url, transport: 'http', auth_type: 'none', workspace_id },
      ...fields,
    });
    const server = await gateway.admin.create('/mcp-servers', { name: slug, slug, workspace_id, mcp_integration_id: made.id });
    return { server: String(server.id), integration: String(made.id) };
  }

  /** `slug` may be a path. */
  async function post(slug: string, body: unknown, headers: Record<string, string> = {}) {
    const reply = await fetch(slug.startsWith('/') ? `${gateway.origin}${slug}` : urlOf(slug), {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'x-svc-api-key': gateway.workspaceKey,
        ...headers,
      },
      body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text };
  }

  /** Begins a session. Returns its headers. */
  async function begin(
    slug: string,
    message: JsonObject = initialize,
    headers: Record<string, string> = {},
  ): Promise<Record<string, string>> {
    const begun = await post(slug, message, headers);
    expect(begun.status, begun.text).toBe(200);
    const id = begun.headers.get('mcp-session-id');
    return { 'mcp-protocol-version': '2025-11-25', ...(id === null ? {} : { 'mcp-session-id': id }) };
  }

  return { workspaceSlug, urlOf, addServer, post, begin };
}
