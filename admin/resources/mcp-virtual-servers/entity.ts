import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A tool of an MCP server of the workspace. */
export interface SelectedTool {
  readonly serverId: string;
  /** Name at the server; `*`: all that are not selected by name. */
  readonly tool: string;
  /** Name that clients see. Of `*` the text before the names of the tools. */
  readonly name: string;
  readonly description: string | null;
  /** Arguments of every call. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A prompt of an MCP server of the workspace. The fields are those of tools. */
export interface SelectedPrompt {
  readonly serverId: string;
  readonly prompt: string;
  readonly name: string;
  readonly description: string | null;
  readonly arguments: Readonly<Record<string, string>>;
}

/** A resource or resource template of an MCP server of the workspace. */
export interface SelectedResource {
  readonly serverId: string;
  /** URI or URI template; `*`: all that are not selected by their URI. */
  readonly resource: string;
  /** Null: the server's. */
  readonly name: string | null;
  readonly description: string | null;
}

/** An endpoint with selected tools, prompts and resources of several MCP servers of a workspace. */
export const mcpVirtualServers = defineEntity({
  name: 'McpVirtualServer',
  tableName: 'mcp_virtual_servers',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    tools: p.json().$type<readonly SelectedTool[]>(),
    prompts: p.json().$type<readonly SelectedPrompt[]>(),
    resources: p.json().$type<readonly SelectedResource[]>(),
    listTimeoutMs: p.integer(),
    /** Clients see `search_tools` and `call_tool` instead of all tools. */
    toolSearch: p.boolean(),
    status: p.text().$type<'active' | 'archived'>(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type McpVirtualServer = InferEntity<typeof mcpVirtualServers>;
