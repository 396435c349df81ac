import type { OperationCall } from '../../../contract/provider/provider.ts';
import { isObject, isText, type JsonObject } from '../../../contract/values/json/json.ts';
import { noteOnce } from '../../note-once.ts';
import { traitsOf } from '../models.ts';
import { toGeminiSchema } from '../schema/json-schema.ts';
import { thinkingConfig } from './thinking.ts';

/** Chat parameters that differ only in name. */
const renamed: readonly (readonly [string, string])[] = [
  ['max_tokens', 'maxOutputTokens'],
  ['max_completion_tokens', 'maxOutputTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['top_k', 'topK'],
  ['n', 'candidateCount'],
  ['seed', 'seed'],
  ['presence_penalty', 'presencePenalty'],
  ['frequency_penalty', 'frequencyPenalty'],
  ['logprobs', 'responseLogprobs'],
  ['top_logprobs', 'logprobs'],
];

/** Values without effect, of parameters that some models reject even with these values. */
const unasked: Readonly<Record<string, unknown>> = {
  n: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  logprobs: false,
  top_logprobs: 0,
};

/** The newest models reject these parameters with status 400. */
const penalties: ReadonlySet<string> = new Set(['n', 'presence_penalty', 'frequency_penalty']);

/** Maximum number of stop sequences that Gemini accepts. */
const stopMax = 5;

/** Returns the `generationConfig` of a chat call. */
export function generationConfig(params: JsonObject, call: OperationCall): JsonObject {
  const config: JsonObject = {};
  const takesPenalties = traitsOf(call.model).penalties;
  for (const [name, native] of renamed) {
    const value = params[name];
    if (value === undefined || value === null || value === unasked[name]) continue;
    if (!takesPenalties && penalties.has(name)) noteOnce(call.dropped, name);
    else config[native] = value;
  }
  return {
    ...config,
    ...stopSequences(params, call),
    ...responseFormat(params, call),
    ...modalities(params),
    ...thinkingConfig(params, call),
  };
}

function stopSequences(params: JsonObject, call: OperationCall): JsonObject {
  const asked = typeof params.stop === 'string' ? [params.stop] : Array.isArray(params.stop) ? params.stop : [];
  const usable = asked.filter(isText).slice(0, stopMax);
  if (usable.length < asked.length) noteOnce(call.dropped, 'stop');
  return usable.length > 0 ? { stopSequences: usable } : {};
}

function responseFormat(params: JsonObject, call: OperationCall): JsonObject {
  const format = isObject(params.response_format) ? params.response_format : {};
  if (format.type === 'json_object') return { responseMimeType: 'application/json' };
  if (format.type === 'json_schema' && isObject(format.json_schema) && isObject(format.json_schema.schema)) {
    const note = (keyword: string): void => noteOnce(call.adapted, `response_format.${keyword}`);
    const schema = toGeminiSchema(format.json_schema.schema, 'response_format.json_schema.schema', note);
    return { responseMimeType: 'application/json', responseSchema: schema };
  }
  if (params.response_format && format.type !== 'text') noteOnce(call.dropped, 'response_format');
  return {};
}

function modalities(params: JsonObject): JsonObject {
  const asked = Array.isArray(params.modalities) ? params.modalities.map((name) => String(name).toUpperCase()) : [];
  return asked.length === 0 || (asked.length === 1 && asked[0] === 'TEXT') ? {} : { responseModalities: asked };
}
