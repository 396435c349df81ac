import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { type ModelTool, serverPrefix, type ToolResult } from './tool-format.ts';

/** Returns a block as the client sees it: calls of the gateway's tools become `mcp_tool_use`. */
export function shownBlock(block: unknown, known: ReadonlyMap<string, ModelTool>): unknown {
  const tool = isObject(block) && block.type === 'tool_use' ? known.get(String(block.name)) : undefined;
  if (!tool) return block;
  return { ...(block as JsonObject), type: 'mcp_tool_use', name: tool.tool, server_name: `${serverPrefix}${tool.server}` };
}

export function resultBlock(id: string, { text, isError }: ToolResult): JsonObject {
  return { type: 'mcp_tool_result', tool_use_id: id, is_error: isError, content: [{ type: 'text', text }] };
}
