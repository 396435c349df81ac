import type { JsonObject } from '../contract/values/json/json.ts';

/** Items of the Responses API that record calls and results of OpenAI's own tools. */
const serverToolItem =
  /^(?:(?:web_search|file_search|code_interpreter|computer|image_generation|local_shell|shell|apply_patch|mcp|tool_search)_(?:call|call_output|output|list_tools)|mcp_approval_(?:request|response)|program(?:_output)?)$/;

/** True for an item that records a call of one of OpenAI's own tools. Other providers reject such items. */
export function isServerToolItem({ type }: JsonObject): boolean {
  return serverToolItem.test(String(type));
}
