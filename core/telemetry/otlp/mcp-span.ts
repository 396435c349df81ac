import type { McpRecord } from '../../contract/plugin/requests/mcp-call.ts';
import { attributesOf, type KeyValue } from './attributes.ts';
import { genAi, mcp } from './gen-ai.ts';

/** Describes a call of an MCP server: the name of its span, its attributes, and its error, which may come with the status 200. */
export function mcpSpan(call: McpRecord): { name: string; attributes: KeyValue[]; error: string | null } {
  const { method, name, server, revision, errorCode, isToolError } = call;
  const isTool = method === 'tools/call';
  const target = isTool || method === 'prompts/get' ? name : null;
  const error = errorCode === null ? (isToolError ? 'tool_error' : null) : String(errorCode);
  return {
    // A URI of a resource has too many values for the name of a span.
    name: [method ?? 'mcp', target].filter((part) => part !== null).join(' '),
    attributes: attributesOf({
      [mcp.method]: method,
      [genAi.operation]: isTool ? mcp.executeTool : null,
      [mcp.toolName]: isTool ? name : null,
      [mcp.promptName]: method === 'prompts/get' ? name : null,
      [mcp.resourceUri]: target === null ? name : null,
      [mcp.protocolVersion]: revision,
      [mcp.rpcStatus]: errorCode === null ? null : String(errorCode),
      'svc.mcp.server': server,
    }),
    error,
  };
}
