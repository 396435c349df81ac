import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import type { ChatExtra } from '../messages-over-chat/request.ts';
import { toChatMessages } from './input-items.ts';
import { toolParams } from './tools.ts';

/** Parameters that are read here and sent under other names, or only echoed. All others are passed as they are. */
const readParams: ReadonlySet<string> = new Set([
  ...['input', 'instructions', 'max_output_tokens', 'text', 'reasoning', 'tools', 'tool_choice', 'parallel_tool_calls', 'stream'],
  ...['store', 'background', 'include', 'metadata', 'top_logprobs', 'stream_options', 'truncation', 'previous_response_id'],
  ...['conversation', 'prompt'],
]);

/** Parameters without an effect on the reply: what an agent (Codex) reports about itself to OpenAI. Strict providers reject them. */
const reportParams: ReadonlySet<string> = new Set(['client_metadata']);

/** Parameters that only OpenAI supports. */
const lostParams: ReadonlySet<string> = new Set([
  ...['max_tool_calls', 'context_management', 'moderation', 'access_programs', 'image', 'background_options'],
]);

/** Values of `include` that are ignored without loss, because the reply always contains them. */
const knownIncludes: ReadonlySet<unknown> = new Set(['reasoning.encrypted_content', 'message.output_text.logprobs']);

/** Parameters that the result depends on, with the function that each of them requests from the provider. */
const stateParams = {
  previous_response_id: 'continue a response',
  conversation: 'continue a conversation',
  prompt: 'use a stored prompt',
} as const;

/**
 * Translates a Responses call into an OpenAI chat call. Unknown parameters are passed. Throws `bad_request` naming the parameter
 * or item that requires a provider with its own Responses API.
 */
export function toChatParams(params: JsonObject, call: OperationCall, understands: readonly ChatExtra[]): JsonObject {
  refuseState(params);
  const chat: JsonObject = {
    ...(params.model === undefined ? {} : { model: params.model }),
    messages: toChatMessages(params, call, understands),
  };
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || readParams.has(name) || reportParams.has(name)) continue;
    if (lostParams.has(name)) noteOnce(call.dropped, name);
    else chat[name] = value;
  }
  if (params.max_output_tokens !== undefined && params.max_output_tokens !== null) {
    chat.max_completion_tokens = params.max_output_tokens;
  }
  if (params.truncation === 'auto') noteOnce(call.dropped, 'truncation');
  if (isObject(params.metadata) && understands.includes('metadata')) chat.metadata = params.metadata;
  if (params.stream === true) {
    chat.stream = true;
    chat.stream_options = { include_usage: true };
  }
  return {
    ...chat,
    ...textParams(params),
    ...reasoningParams(params, call),
    ...logprobParams(params, call),
    ...toolParams(params, call, understands),
  };
}

function refuseState(params: JsonObject): void {
  const needs = 'needs a provider with its own Responses API';
  for (const [name, asks] of Object.entries(stateParams)) {
    if (params[name] !== undefined && params[name] !== null) throw badParam(name, `to ${asks} ${needs}: send the whole input`);
  }
  if (params.store === true) throw badParam('store', `to store responses ${needs}: send store: false`);
  if (params.background === true) throw badParam('background', `to answer in the background ${needs}`);
}

/** `text.format` and `text.verbosity`. */
function textParams(params: JsonObject): JsonObject {
  const { format, verbosity } = isObject(params.text) ? params.text : {};
  const out: JsonObject = typeof verbosity === 'string' ? { verbosity } : {};
  if (!isObject(format) || format.type === 'text') return out;
  if (format.type !== 'json_schema') return { ...out, response_format: format };
  const { type: _type, ...schema } = format;
  const given = Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== null));
  return { ...out, response_format: { type: 'json_schema', json_schema: given } };
}

/** Ignores requests for summaries: they are returned whenever the provider returns its reasoning. */
function reasoningParams(params: JsonObject, call: OperationCall): JsonObject {
  if (!isObject(params.reasoning)) return {};
  const { effort, summary: _summary, generate_summary: _generate, ...others } = params.reasoning;
  for (const [name, value] of Object.entries(others)) {
    if (value !== null && value !== undefined) noteOnce(call.dropped, `reasoning.${name}`);
  }
  return typeof effort === 'string' ? { reasoning_effort: effort } : {};
}

function logprobParams(params: JsonObject, call: OperationCall): JsonObject {
  const include = Array.isArray(params.include) ? params.include : [];
  if (include.some((name) => !knownIncludes.has(name))) noteOnce(call.dropped, 'include');
  const count = typeof params.top_logprobs === 'number' && params.top_logprobs > 0 ? params.top_logprobs : null;
  if (!include.includes('message.output_text.logprobs') && count === null) return {};
  return { logprobs: true, ...(count === null ? {} : { top_logprobs: count }) };
}

/** Maps the names of chat parameters that adapters report to the caller's names. */
const words: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_output_tokens',
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  verbosity: 'text.verbosity',
  reasoning_effort: 'reasoning.effort',
  logprobs: 'top_logprobs',
  messages: 'input',
};

/** Maps the names of message parts that adapters report to the caller's item names. */
const itemWords: Readonly<Record<string, string>> = {
  'messages.content_blocks': 'input.reasoning',
  'messages.thinking': 'input.reasoning',
  'messages.reasoning_content': 'input.reasoning',
  'messages.thought_signature': 'input.reasoning',
  'messages.tool_calls': 'input.function_call',
  'messages.tool_calls.custom': 'input.custom_tool_call',
  'messages.file': 'input.input_file',
};

/** `messages.name` → `input.name`, `max_tokens->max_completion_tokens` → `max_output_tokens->max_completion_tokens`. */
export function inCallersTerms(name: string): string {
  if (itemWords[name]) return itemWords[name];
  const [, head = name, tail = ''] = /^(\w+)(.*)$/s.exec(name) ?? [];
  return (words[head] ?? head) + tail;
}
