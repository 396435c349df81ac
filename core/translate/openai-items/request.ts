import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { readableContent } from '../../contract/values/models/agent-messages.ts';
import { noteOnce } from '../../formats/note-once.ts';

/**
 * Returns a Responses request without items that only OpenAI's models know: tools of `additional_tools` are tools of the request, settings
 * of `configuration_update` are its settings, and messages of other agents are messages of the user. Later tools and settings replace
 * earlier ones. Returns the same object if it has no such item.
 */
export function withItemsApplied(params: JsonObject, call: OperationCall): JsonObject {
  const { input, tools } = params;
  if (!hasOpenAiItems(input)) return params;
  const items = input.filter(isOpenAiItem);
  for (const { type } of items) noteOnce(call.adapted, `input.${type}`);
  const others = input.flatMap((item) => (isOpenAiItem(item) ? messagesOf(item, call) : [item]));
  const body: Record<string, unknown> = { ...params, input: others };
  const added = items.filter(({ type }) => type === 'additional_tools').flatMap((item) => objectsIn(item.tools));
  if (added.length > 0) body.tools = lastOfEachName([...(Array.isArray(tools) ? tools : []), ...added]);
  const updates = items.filter(({ type }) => type === 'configuration_update');
  for (const name of ['reasoning', 'text']) {
    const settings = updates.map((update) => update[name]).filter(isObject);
    if (settings.length > 0) body[name] = merged([params[name], ...settings].filter(isObject));
  }
  return body;
}

/** True if the input has an item that only OpenAI's models know. */
export function hasOpenAiItems(input: unknown): input is readonly unknown[] {
  return Array.isArray(input) && input.some(isOpenAiItem);
}

const openAiItems = ['additional_tools', 'configuration_update', 'agent_message'] as const;

type OpenAiItem = JsonObject & { readonly type: (typeof openAiItems)[number] };

function isOpenAiItem(item: unknown): item is OpenAiItem {
  return isObject(item) && (openAiItems as readonly unknown[]).includes(item.type);
}

/**
 * Codex repeats a tool with another description. Providers reject two tools of one name. An MCP server has a label instead. Other tools without
 * a name are one per type.
 */
function lastOfEachName(tools: readonly unknown[]): unknown[] {
  const byName = new Map(tools.map((tool) => [isObject(tool) ? keyOf(tool) : tool, tool]));
  return [...byName.values()];
}

function keyOf({ type, name, server_label }: JsonObject): string {
  return JSON.stringify([type, name ?? server_label]);
}

/** A message of one agent of Codex to another. */
function messagesOf({ type, content }: OpenAiItem, call: OperationCall): JsonObject[] {
  if (type !== 'agent_message') return [];
  const parts = objectsIn(content).flatMap((part) => {
    if (part.type !== 'encrypted_content') return [part];
    const text = readableContent(part);
    if (text !== null) return [{ type: 'input_text', text }];
    noteOnce(call.dropped, 'input.agent_message.encrypted_content');
    return [];
  });
  return [{ type: 'message', role: 'user', content: parts }];
}

/** The last of several members of one name counts. A copy for each object would take quadratic time. */
function merged(objects: readonly JsonObject[]): JsonObject {
  return Object.fromEntries(objects.flatMap((one) => Object.entries(one)));
}
