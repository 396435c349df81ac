import { createHash } from 'node:crypto';
import type { OperationCall } from '../../contract/provider/provider.ts';
import { functionSchema } from '../../contract/values/json/function-schema.ts';
import { isObject, isText, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { withoutThread } from '../../formats/anthropic/threads.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { withinModelLimits } from '../../formats/openai/openai-models.ts';
import { toolsInEffect } from './tool-changes.ts';
import { sentName } from './tool-names.ts';
import { toChatMessages } from './turns.ts';

/**
 * Fields beyond OpenAI's that some chat providers accept: `content_blocks` = thinking blocks with their signatures, `tool_media`
 * = images and files in tool results, `tool_errors` = `is_error` of tool results, `file_urls` = web addresses as `file_data` of
 * files, `images` = images that the model made, `metadata` = free-form metadata.
 */
export type ChatExtra =
  | 'cache_control'
  | 'top_k'
  | 'thinking'
  | 'reasoning_content'
  | 'content_blocks'
  | 'tool_media'
  | 'tool_errors'
  | 'file_urls'
  | 'images'
  | 'metadata';

/** The extras of a provider. A function of the call if they depend on the maker of the model. */
export type ChatExtras = readonly ChatExtra[] | ((call: OperationCall) => readonly ChatExtra[]);

/** Returns the extras for one call. */
export function extrasOf(extras: ChatExtras, call: OperationCall): readonly ChatExtra[] {
  return typeof extras === 'function' ? extras(call) : extras;
}

/** Messages parameters that are read here and sent under other names. */
const readParams: ReadonlySet<string> = new Set([
  ...['messages', 'system', 'max_tokens', 'stop_sequences', 'metadata', 'tools', 'tool_choice', 'output_config'],
  ...['top_k', 'thinking', 'cache_control', 'output_format'],
]);

/** Messages parameters that only Anthropic supports. */
const lostParams: ReadonlySet<string> = new Set([
  ...['container', 'context_management', 'mcp_servers', 'service_tier', 'anthropic_beta', 'betas', 'inference_geo', 'speed'],
  ...['diagnostics', 'fallbacks', 'fallback_credit_token', 'billing_policy', 'compaction', 'user_profile_id', 'workspace_id'],
]);

/**
 * Translates a Messages call into an OpenAI chat call. Unknown parameters are passed. Throws `bad_request` naming the parameter
 * it cannot carry over.
 */
export function toChatParams(given: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  const params = withoutThread(given, call);
  const chat: JsonObject = { messages: toChatMessages(params, call, understands) };
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || readParams.has(name)) continue;
    if (lostParams.has(name)) noteOnce(call.dropped, name);
    else chat[name] = value;
  }
  if (params.max_tokens !== undefined) chat.max_completion_tokens = params.max_tokens;
  if (Array.isArray(params.stop_sequences) && params.stop_sequences.length > 0) chat.stop = params.stop_sequences;
  if (isObject(params.metadata) && typeof params.metadata.user_id === 'string') chat.user = userOf(params.metadata.user_id, call);
  for (const name of ['top_k', 'thinking', 'cache_control'] as const) {
    if (params[name] === undefined || params[name] === null) continue;
    if (understands.includes(name)) chat[name] = params[name];
    else noteOnce(call.dropped, name);
  }
  if (params.stream === true) {
    chat.stream_options = { ...(isObject(params.stream_options) ? params.stream_options : {}), include_usage: true };
  }
  return withinModelLimits({ ...chat, ...outputParams(params, call), ...toolParams(params, call, understands) }, call);
}

/** Maximum length of `user` at OpenAI. OpenRouter and Zhipu accept 128 characters, Anthropic 256. */
const userLengthMax = 64;

/** Claude Code identifies a user by 150 characters. The digest of such an id differs between users as well. */
function userOf(id: string, call: OperationCall): string {
  if (id.length <= userLengthMax) return id;
  noteOnce(call.adapted, 'metadata.user_id');
  return createHash('sha256').update(id).digest('hex');
}

function outputParams(params: JsonObject, call: OperationCall): JsonObject {
  const { effort: asked, format: configured } = isObject(params.output_config) ? params.output_config : {};
  const effort = lastEffort(params.messages) ?? asked;
  if (effort !== asked) noteOnce(call.adapted, 'messages.output_config');
  // The older name of the format.
  const format = configured ?? params.output_format;
  const out: JsonObject = {};
  if (typeof effort === 'string') out.reasoning_effort = effort;
  if (isObject(format) && format.type === 'json_schema') {
    out.response_format = {
      type: 'json_schema',
      json_schema: { name: 'reply', schema: format.schema, ...(isStrictSchema(format.schema) ? { strict: true } : {}) },
    };
  }
  return out;
}

/** A system turn may change the effort for the rest of the conversation. Returns undefined if none does. */
function lastEffort(turns: unknown): string | undefined {
  const efforts = objectsIn(turns).flatMap(({ role, output_config: own }) =>
    role === 'system' && isObject(own) ? [own.effort] : [],
  );
  return efforts.filter(isText).at(-1);
}

/** OpenAI's strict mode refuses schemas with optional or additional properties, which Anthropic may have been given. */
function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (!isObject(schema)) return true;
  if (isObject(schema.properties)) {
    const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
    if (schema.additionalProperties !== false) return false;
    if (!Object.keys(schema.properties).every((name) => required.has(name))) return false;
  }
  return Object.values(schema).every(isStrictSchema);
}

/** Fields of a tool that have a counterpart. Only Anthropic supports the others (`defer_loading`, `input_examples`, …). */
const toolFields: ReadonlySet<string> = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control']);

/** Function tools and the choice among them. Tools that Anthropic itself runs (`web_search_…`) have no counterpart. */
function toolParams(params: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  const tools = toolsInEffect(params, call).flatMap((tool) => chatTool(tool, call, understands));
  if (tools.length === 0) return {};
  const choice = isObject(params.tool_choice) ? params.tool_choice : {};
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  return { tools, ...chatToolChoice(choice, call), ...parallel };
}

function chatTool(tool: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject[] {
  if (tool.type === 'function') return [tool];
  if (tool.type !== undefined && tool.type !== null && tool.type !== 'custom') {
    noteOnce(call.dropped, `tools.${String(tool.type)}`);
    return [];
  }
  for (const [name, value] of Object.entries(tool)) {
    if (!toolFields.has(name) && value !== null && value !== undefined && value !== false)
      noteOnce(call.dropped, `tools.${name}`);
  }
  const keepsHint = tool.cache_control !== undefined && tool.cache_control !== null && understands.includes('cache_control');
  if (tool.cache_control && !keepsHint) noteOnce(call.dropped, 'cache_control');
  const parameters = isObject(tool.input_schema) ? functionSchema(tool.input_schema) : tool.input_schema;
  const isStrict = tool.strict === true && isStrictSchema(parameters);
  if (tool.strict === true && !isStrict) noteOnce(call.dropped, 'tools.strict');
  const fn = {
    name: sentName(tool.name, call),
    ...(tool.description === undefined ? {} : { description: tool.description }),
    parameters,
    ...(isStrict ? { strict: true } : {}),
  };
  return [{ type: 'function', function: fn, ...(keepsHint ? { cache_control: tool.cache_control } : {}) }];
}

function chatToolChoice(choice: JsonObject, call: OperationCall): JsonObject {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { tool_choice: choice.type };
    case 'any':
      return { tool_choice: 'required' };
    case 'tool':
      return { tool_choice: { type: 'function', function: { name: sentName(choice.name, call) } } };
    default:
      return {};
  }
}
