import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { schemaWithoutBounds } from '../../formats/json-schema-bounds.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { jsonInstruction } from '../../formats/openai/json-instruction.ts';
import { type LostParams, openAiOnly, passedParams } from '../../formats/openai/passed-params.ts';
import { toConversation } from './chat-messages.ts';
import { toolParams } from './tools.ts';

/** Chat parameters that are read here and sent under other names or not at all. All others are sent unchanged. */
const readParams: ReadonlySet<string> = new Set([
  ...['messages', 'max_tokens', 'max_completion_tokens', 'top_p', 'top_k', 'stop', 'stream_options', 'tools', 'tool_choice'],
  ...['parallel_tool_calls', 'functions', 'function_call', 'response_format', 'reasoning_effort', 'thinking'],
  ...['frequency_penalty', 'presence_penalty', 'model', 'stream', 'documents'],
]);

/** Chat parameters that the provider lacks. */
const lostParams: LostParams = {
  ...openAiOnly,
  n: 1,
  top_logprobs: 0,
  user: undefined,
  safety_identifier: undefined,
  metadata: {},
  modalities: undefined,
  service_tier: 'auto',
};

/**
 * Translates an OpenAI chat call into a call of the Chat API, version 2. Unknown parameters are passed, so clients can add the
 * provider's own (`documents`, `citation_options`, `safety_mode`, …). Throws `bad_request` naming the parameter it cannot carry
 * over.
 */
export function chatRequest(params: JsonObject, call: OperationCall): JsonObject {
  const passed = passedParams(params, call, (name) => readParams.has(name), lostParams);
  const conversation = toConversation(params.messages, call);
  const { messages } = conversation;
  const documents = [...(Array.isArray(params.documents) ? params.documents : []), ...conversation.documents];
  const stop = typeof params.stop === 'string' ? [params.stop] : params.stop;
  const tools = toolParams(params, call);
  // The provider rejects the form of the reply beside tools and documents.
  const isRejected = tools.tools !== undefined || documents.length > 0;
  const instruction = isRejected ? jsonInstruction(params.response_format) : null;
  if (instruction !== null) noteOnce(call.adapted, 'response_format');
  return {
    model: params.model,
    messages: instruction === null ? messages : [{ role: 'system', content: instruction }, ...messages],
    ...given('documents', documents.length > 0 ? documents : undefined),
    ...tools,
    ...given('max_tokens', params.max_completion_tokens ?? params.max_tokens),
    ...given('p', params.top_p),
    ...given('k', params.top_k),
    ...given('stop_sequences', Array.isArray(stop) && stop.length > 0 ? stop : undefined),
    ...penalty('frequency_penalty', params, call),
    ...penalty('presence_penalty', params, call),
    ...(instruction === null ? responseFormat(params, call) : {}),
    ...thinking(params, call),
    ...passed,
    ...given('stream', params.stream),
  };
}

/** The provider's penalties range from 0 to 1, OpenAI's from −2 to 2. */
function penalty(name: string, params: JsonObject, call: OperationCall): JsonObject {
  const value = params[name];
  if (typeof value !== 'number') return {};
  const taken = Math.min(1, Math.max(0, value));
  if (taken !== value) noteOnce(call.adapted, name);
  return { [name]: taken };
}

/** The provider has one JSON format with an optional schema. Keywords that it does not compile become part of descriptions. */
function responseFormat(params: JsonObject, call: OperationCall): JsonObject {
  const format = params.response_format;
  if (!isObject(format) || format.type === 'text') return {};
  if (format.type !== 'json_schema' || !isObject(format.json_schema)) return { response_format: format };
  const { schema } = format.json_schema;
  if (!isObject(schema)) return { response_format: { type: 'json_object' } };
  const compiled = schemaWithoutBounds(schema, {
    closesObjects: false,
    changed: () => noteOnce(call.adapted, 'response_format'),
  });
  return { response_format: { type: 'json_object', json_schema: compiled } };
}

/**
 * Reasoning models accept a switch and a token budget, but no effort, no adaptive amount and no other field of Anthropic's clients,
 * such as `display`. `between_tools` is the least reasoning that some Claude models accept.
 */
function thinking(params: JsonObject, call: OperationCall): JsonObject {
  if (isObject(params.thinking)) {
    const { type, budget_tokens: budget, token_budget: own = budget, ...others } = params.thinking;
    const isKnown = type === 'enabled' || type === 'disabled';
    if (!isKnown || Object.keys(others).length > 0) noteOnce(call.adapted, 'thinking');
    if (typeof params.reasoning_effort === 'string') noteOnce(call.dropped, 'reasoning_effort');
    const isOff = type === 'disabled' || type === 'between_tools';
    return { thinking: { type: isOff ? 'disabled' : 'enabled', ...given('token_budget', own) } };
  }
  const effort = params.reasoning_effort;
  if (typeof effort !== 'string') return {};
  if (!/reasoning|command-a-plus/.test(call.model)) {
    if (effort !== 'none') noteOnce(call.dropped, 'reasoning_effort');
    return {};
  }
  if (effort !== 'none') noteOnce(call.adapted, 'reasoning_effort');
  return { thinking: { type: effort === 'none' ? 'disabled' : 'enabled' } };
}

function given(name: string, value: unknown): JsonObject {
  return value === undefined || value === null ? {} : { [name]: value };
}
