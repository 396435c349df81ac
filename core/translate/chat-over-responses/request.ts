import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { toInput } from './input.ts';
import { toolParams } from './tools.ts';

/** Chat parameters that are read here and sent under other names. All others are sent unchanged. */
const readParams: ReadonlySet<string> = new Set([
  ...[
    'messages',
    'max_tokens',
    'max_completion_tokens',
    'response_format',
    'verbosity',
    'reasoning_effort',
    'n',
    'stream_options',
  ],
  ...['logprobs', 'top_logprobs', 'tools', 'tool_choice', 'content_blocks', 'functions', 'function_call'],
]);

/** Chat parameters that the API lacks. */
const lostParams: ReadonlySet<string> = new Set([
  ...['stop', 'seed', 'logit_bias', 'presence_penalty', 'frequency_penalty', 'prediction', 'modalities', 'audio'],
  'web_search_options',
]);

/** Minimum of `max_output_tokens` that the API accepts. */
const outputTokensMin = 16;

/** Reasoning models: only they accept a request for sealed reasoning. */
const thinks = /(^|[/.-])(o\d|gpt-([5-9]|\d\d)(?!.*chat)|codex|computer-use)/i;

/**
 * Converts a chat call to a Responses call (https://platform.openai.com/docs/guides/migrate-to-responses). Nothing is stored
 * unless the caller requests it, as with chat completions. Throws `bad_request` naming the parameter that cannot be carried over.
 */
export function toResponsesParams(params: JsonObject, call: OperationCall): JsonObject {
  if (typeof params.n === 'number' && params.n > 1) throw badParam('n', 'this model gives one choice only');
  for (const name of ['functions', 'function_call']) {
    if (params[name] !== undefined && params[name] !== null) throw badParam(name, 'send tools and tool_choice instead');
  }
  const out: JsonObject = { input: toInput(params.messages, call) };
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined || readParams.has(name)) continue;
    if (!lostParams.has(name)) out[name] = value;
    else if (!hasNoEffect(name, value)) noteOnce(call.dropped, name);
  }
  out.store ??= false;
  return {
    ...out,
    ...limitOf(params, call),
    ...textOf(params),
    ...reasoningOf(params),
    ...extrasOf(params, call),
    ...toolParams(params),
  };
}

/** Values that are the default or have no effect. */
function hasNoEffect(name: string, value: unknown): boolean {
  if (name === 'presence_penalty' || name === 'frequency_penalty') return value === 0;
  if (name === 'modalities') return Array.isArray(value) && value.every((one) => one === 'text');
  return Array.isArray(value) && value.length === 0;
}

function limitOf(params: JsonObject, call: OperationCall): JsonObject {
  const limit = params.max_completion_tokens ?? params.max_tokens;
  if (limit === undefined || limit === null) return {};
  if (typeof limit !== 'number' || limit >= outputTokensMin) return { max_output_tokens: limit };
  noteOnce(call.adapted, 'max_completion_tokens');
  return { max_output_tokens: outputTokensMin };
}

function textOf(params: JsonObject): JsonObject {
  const { response_format: asked, verbosity, text } = params;
  const format = isObject(asked) && isObject(asked.json_schema) ? { type: 'json_schema', ...asked.json_schema } : asked;
  const textOptions = { ...(isObject(format) ? { format } : {}), ...(typeof verbosity === 'string' ? { verbosity } : {}) };
  return Object.keys(textOptions).length === 0 ? {} : { text: { ...(isObject(text) ? text : {}), ...textOptions } };
}

function reasoningOf(params: JsonObject): JsonObject {
  const { reasoning_effort: effort, reasoning } = params;
  return typeof effort === 'string' ? { reasoning: { ...(isObject(reasoning) ? reasoning : {}), effort } } : {};
}

/** Returns the parameters that request further content beside the text, in the response and in its stream. */
function extrasOf(params: JsonObject, call: OperationCall): JsonObject {
  const include = Array.isArray(params.include) ? [...params.include] : [];
  const add = (name: string): void => void (include.includes(name) || include.push(name));
  if (params.logprobs === true) add('message.output_text.logprobs');
  // Clients that accept native blocks send the reasoning back with the next turn, so that the model continues it.
  if (!call.strict && thinks.test(call.model)) add('reasoning.encrypted_content');
  const { include_usage: _counted, ...options } = isObject(params.stream_options) ? params.stream_options : {};
  return {
    ...(include.length > 0 ? { include } : {}),
    ...(typeof params.top_logprobs === 'number' && params.logprobs === true ? { top_logprobs: params.top_logprobs } : {}),
    ...(Object.keys(options).length > 0 ? { stream_options: options } : {}),
  };
}
