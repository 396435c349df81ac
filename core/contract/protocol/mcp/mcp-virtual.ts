import * as v from 'valibot';
import { mcpServerDocument } from './mcp.ts';

/** Selects every tool, prompt or resource of a server that is not selected by its name or URI. */
export const allItems = '*';

/** A tool of an MCP server under another name. */
const virtualTool = v.object({
  /** Name that clients see. Of `allItems` the text before the names of the tools. */
  name: v.string(),
  /** Replaces the description of the server; null: unchanged. */
  description: v.nullable(v.string()),
  serverId: v.string(),
  /** Slug of the server. */
  server: v.string(),
  /** Name at the server, or `allItems`. */
  tool: v.string(),
  /** Arguments of every call. Clients neither see nor set them. */
  arguments: v.record(v.string(), v.unknown()),
});
export type VirtualTool = v.InferOutput<typeof virtualTool>;

/** A prompt of an MCP server under another name. The fields are those of tools. */
const virtualPrompt = v.object({
  name: v.string(),
  description: v.nullable(v.string()),
  serverId: v.string(),
  server: v.string(),
  /** Name at the server, or `allItems`. */
  prompt: v.string(),
  arguments: v.record(v.string(), v.string()),
});
export type VirtualPrompt = v.InferOutput<typeof virtualPrompt>;

/** A resource or resource template of an MCP server. Its URI stays. */
const virtualResource = v.object({
  /** Replaces the name that clients display; null: unchanged. */
  name: v.nullable(v.string()),
  description: v.nullable(v.string()),
  serverId: v.string(),
  server: v.string(),
  /** URI or URI template, or `allItems`. */
  resource: v.string(),
});
export type VirtualResource = v.InferOutput<typeof virtualResource>;

/** Selected tools, prompts and resources of several MCP servers of a workspace behind one endpoint. */
const mcpVirtualServerDocument = v.object({
  id: v.string(),
  slug: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  name: v.string(),
  description: v.nullable(v.string()),
  tools: v.array(virtualTool),
  /** Absent in documents of an earlier version. */
  prompts: v.optional(v.array(virtualPrompt), []),
  resources: v.optional(v.array(virtualResource), []),
  /** Milliseconds to wait for the list of each server. */
  listTimeoutMs: v.number(),
  toolSearch: v.boolean(),
});
export type McpVirtualServerDocument = v.InferOutput<typeof mcpVirtualServerDocument>;

/** A server or virtual server: paths of MCP endpoints name either by its slug. */
export const mcpEndpointDocument = v.union([mcpServerDocument, mcpVirtualServerDocument]);
export type McpEndpointDocument = v.InferOutput<typeof mcpEndpointDocument>;

export function isVirtual(document: McpEndpointDocument): document is McpVirtualServerDocument {
  return !('url' in document);
}
