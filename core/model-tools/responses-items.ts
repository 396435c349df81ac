import type { JsonObject } from '../contract/values/json/json.ts';
import { type ModelTool, serverPrefix, type ToolResult } from './tool-format.ts';

/** An item of the reply for a call of a tool by the gateway. */
export function callItem(call: JsonObject, tool: ModelTool, more: JsonObject): JsonObject {
  return {
    ...{ id: call.call_id, type: 'mcp_call', server_label: `${serverPrefix}${tool.server}`, name: tool.tool },
    ...{ arguments: call.arguments ?? '', approval_request_id: null, output: null, error: null, ...more },
  };
}

/** Members of a finished call. */
export function outcomeOf({ text, isError }: ToolResult): JsonObject {
  return isError ? { output: null, error: text, status: 'failed' } : { output: text, error: null, status: 'completed' };
}
