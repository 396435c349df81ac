import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { schemaWithoutBounds } from '../json-schema-bounds.ts';
import { noteOnce } from '../note-once.ts';
import { reportImageDetail } from '../openai/image-detail.ts';
import { passedParams, textOnly } from '../openai/passed-params.ts';
import { plainWherePossible, toConversation } from './chat-messages.ts';
import { contentBlocks } from './content-parts.ts';
import { samplingParams } from './sampling.ts';
import { stopSequences } from './stop-sequences.ts';
import { thinkingParams } from './thinking.ts';
import { toolParams } from './tools.ts';

/** Chat parameters that are read here and sent under other names or not at all. All others are sent unchanged. */
const readParams: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'max_completion_tokens', 'reasoning_effort', 'thinking', 'output_config'],
  ...['temperature', 'top_p', 'top_k', 'tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call', 'stop'],
  ...['user', 'safety_identifier', 'metadata', 'response_format', 'service_tier', 'stream_options'],
]);

/**
 * Translates an OpenAI chat call into a Messages call. Unknown parameters are passed, so clients can add native ones (`thinking`,
 * `top_k`, `mcp_servers`, …). Throws `bad_request` naming the parameter it cannot carry over.
 */
export function chatRequest(params: JsonObject, call: OperationCall): JsonObject {
  const passed = passedParams(params, call, (name) => readParams.has(name), textOnly);
  reportImageDetail(params.messages, call);
  const { system, messages } = toConversation(params.messages, call);
  const thinking = thinkingParams(params, call, messages);
  const outputConfig = { ...(isObject(params.output_config) ? params.output_config : {}), ...asObject(thinking.output_config) };
  const format = outputFormat(params, call);
  const instructions = [...contentBlocks(params.system, 'system'), ...system, ...format.instructions];
  const thinks = isObject(thinking.thinking) && ['enabled', 'adaptive'].includes(String(thinking.thinking.type));
  const body: JsonObject = {
    model: params.model,
    max_tokens: thinking.max_tokens,
    ...(instructions.length > 0 ? { system: plainWherePossible(instructions) } : {}),
    messages,
    ...toolParams(params, call),
    ...samplingParams(params, thinks, call),
    ...stopSequences('stop_sequences', params, call),
    ...metadata(params, call),
    ...serviceTier(params, call),
    ...passed,
  };
  if (thinking.thinking !== undefined) body.thinking = thinking.thinking;
  const output = { ...outputConfig, ...format.config };
  if (Object.keys(output).length > 0) body.output_config = output;
  return body;
}

/**
 * Structured output is native for JSON schemas (GA since the 4.5 models), which must be closed and without bounds. JSON without a
 * schema can only be requested in the prompt.
 */
function outputFormat(params: JsonObject, call: OperationCall): { config: JsonObject; instructions: JsonObject[] } {
  const format = isObject(params.response_format) ? params.response_format : {};
  if (format.type === 'json_schema' && isObject(format.json_schema) && isObject(format.json_schema.schema)) {
    const changed = (): void => noteOnce(call.adapted, 'response_format');
    const schema = schemaWithoutBounds(format.json_schema.schema, { closesObjects: true, changed });
    return { config: { format: { type: 'json_schema', schema } }, instructions: [] };
  }
  if (format.type !== 'json_object') {
    if (params.response_format && format.type !== 'text') noteOnce(call.dropped, 'response_format');
    return { config: {}, instructions: [] };
  }
  noteOnce(call.adapted, 'response_format');
  const text = 'Answer with one valid JSON object and nothing else: no introduction, no code fence.';
  return { config: {}, instructions: [{ type: 'text', text }] };
}

/** The provider's metadata holds only an opaque user id. It has no field for OpenAI's free-form pairs. */
function metadata(params: JsonObject, call: OperationCall): JsonObject {
  const { user_id: userId, ...others } = asObject(params.metadata);
  if (Object.keys(others).length > 0) noteOnce(call.dropped, 'metadata');
  const id = userId ?? params.user ?? params.safety_identifier;
  for (const name of ['user', 'safety_identifier'] as const) {
    if (params[name] !== undefined && params[name] !== null && params[name] !== id) noteOnce(call.dropped, name);
  }
  return id === undefined || id === null ? {} : { metadata: { user_id: id } };
}

function serviceTier(params: JsonObject, call: OperationCall): JsonObject {
  const tier = params.service_tier;
  if (tier === 'auto' || tier === 'standard_only') return { service_tier: tier };
  if (tier === 'default') return { service_tier: 'standard_only' };
  if (tier !== undefined && tier !== null) noteOnce(call.dropped, 'service_tier');
  return {};
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
