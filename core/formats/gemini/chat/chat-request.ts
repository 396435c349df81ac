import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';
import { noteOnce } from '../../note-once.ts';
import { reportImageDetail } from '../../openai/image-detail.ts';
import { jsonInstruction } from '../../openai/json-instruction.ts';
import { type LostParams, openAiOnly, passedParams } from '../../openai/passed-params.ts';
import { traitsOf } from '../models.ts';
import { toConversation } from './contents.ts';
import { generationConfig } from './generation-config.ts';
import { toolParams } from './tools.ts';

/** Chat parameters that are read here and sent under other names or not at all. All others are sent unchanged. */
const readParams: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k'],
  ...['n', 'stop', 'seed', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs', 'response_format', 'modalities'],
  ...['reasoning_effort', 'thinking', 'tools', 'tool_choice', 'parallel_tool_calls', 'functions', 'function_call'],
  ...['generationConfig', 'toolConfig', 'systemInstruction', 'safety_settings', 'cached_content', 'service_tier'],
]);

/** Chat parameters that Gemini lacks. */
const lostParams: LostParams = {
  ...openAiOnly,
  user: undefined,
  safety_identifier: undefined,
  metadata: {},
  cache_control: undefined,
};

export interface GeminiRequestOptions {
  /**
   * False for Vertex AI. The Gemini API accepts `serviceTier` in the body, for which Vertex AI has headers, and returns the calls
   * of its own tools beside functions only on request (`includeServerSideToolInvocations`).
   */
  readonly isGeminiApi: boolean;
}

/**
 * Translates an OpenAI chat call into a generateContent call. Unknown parameters are passed, so clients can add native ones
 * (`safetySettings`, `cachedContent`, `labels`, …). `generationConfig` and `toolConfig` are merged over the derived values.
 * Throws `bad_request` naming the parameter it cannot carry over.
 */
export function chatRequest(params: JsonObject, call: OperationCall, options: GeminiRequestOptions): JsonObject {
  const passed = passedParams(params, call, (name) => readParams.has(name), lostParams);
  reportImageDetail(params.messages, call);
  const { system, contents } = toConversation(params.messages, call);
  const derived = generationConfig(params, call);
  const chosen = toolParams(params, call, options);
  const { toolConfig, ...tools } = chosen;
  const asked = withJsonByInstruction(derived, params, call, chosen);
  const config = { ...asked.config, ...objectIn(params.generationConfig) };
  const choice = { ...objectIn(toolConfig), ...objectIn(params.toolConfig) };
  const parts = [...system, ...asked.instruction];
  const instruction = params.systemInstruction ?? (parts.length > 0 ? { parts } : undefined);
  return {
    ...(instruction === undefined ? {} : { systemInstruction: instruction }),
    contents,
    ...tools,
    ...(Object.keys(choice).length > 0 ? { toolConfig: choice } : {}),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...(params.safety_settings === undefined ? {} : { safetySettings: params.safety_settings }),
    ...(params.cached_content === undefined ? {} : { cachedContent: params.cached_content }),
    ...serviceTier(params.service_tier, call, options),
    ...passed,
  };
}

/**
 * Replaces the form of the reply by an instruction if the model rejects the form because of the tools, as Gemini 3 does if it must call
 * one. Native instructions of the caller stay as they are.
 */
function withJsonByInstruction(
  config: JsonObject,
  params: JsonObject,
  call: OperationCall,
  tools: JsonObject,
): { readonly config: JsonObject; readonly instruction: readonly JsonObject[] } {
  const { responseMimeType: type, responseSchema: _schema, ...others } = config;
  const isForced = objectIn(objectIn(tools.toolConfig).functionCallingConfig).mode === 'ANY';
  const isAccepted = tools.tools === undefined || (traitsOf(call.model).jsonBesideTools && !isForced);
  const text = type === undefined || isAccepted ? null : jsonInstruction(params.response_format);
  if (text === null || params.systemInstruction !== undefined) return { config, instruction: [] };
  noteOnce(call.adapted, 'response_format');
  return { config: others, instruction: [{ text }] };
}

function serviceTier(tier: unknown, call: OperationCall, options: GeminiRequestOptions): JsonObject {
  if (tier === undefined || tier === null || tier === 'auto') return {};
  const known = tier === 'default' ? 'standard' : tier;
  if (options.isGeminiApi && ['standard', 'flex', 'priority'].includes(String(known))) return { serviceTier: known };
  if (tier !== 'default') noteOnce(call.dropped, 'service_tier');
  return {};
}

function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
