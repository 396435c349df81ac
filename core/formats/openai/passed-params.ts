import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { noteOnce } from '../note-once.ts';

/**
 * Parameters that a provider lacks, each with the value that has no effect. `{}` stands for any empty object. `null` and
 * `undefined` never have an effect.
 */
export type LostParams = Readonly<Record<string, unknown>>;

/** Chat parameters of OpenAI that no provider with a format of its own supports. */
export const openAiOnly: LostParams = {
  best_of: 1,
  echo: false,
  suffix: '',
  store: false,
  logit_bias: {},
  prediction: {},
  audio: {},
  verbosity: undefined,
  web_search_options: undefined,
  moderation: undefined,
  prompt_cache_key: undefined,
  prompt_cache_retention: undefined,
  prompt_cache_options: {},
};

/** Like `openAiOnly`, for providers that also lack choices, probabilities, penalties, seeds and other kinds of output. */
export const textOnly: LostParams = {
  ...openAiOnly,
  n: 1,
  logprobs: false,
  top_logprobs: 0,
  presence_penalty: 0,
  frequency_penalty: 0,
  seed: undefined,
  modalities: undefined,
};

/**
 * Returns the parameters of a chat call that are sent under their own name: all except those read elsewhere and those in `lost`,
 * so that clients can add parameters of the provider. Lost parameters whose value would have an effect are reported as dropped.
 */
export function passedParams(
  params: JsonObject,
  call: OperationCall,
  isRead: (name: string) => boolean,
  lost: LostParams,
): JsonObject {
  const passed: JsonObject = {};
  for (const [name, value] of Object.entries(params)) {
    if (isRead(name)) continue;
    if (!Object.hasOwn(lost, name)) passed[name] = value;
    else if (value !== lost[name] && asksForSomething(value, lost[name])) noteOnce(call.dropped, name);
  }
  return passed;
}

/** Text is the default output, so `modalities` or `response_format` with text request nothing. */
function asksForSomething(value: unknown, nothing: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return !(value.length === 1 && value[0] === 'text');
  if (!isObject(value)) return true;
  // An empty object can have an effect: `web_search_options: {}` requests a search.
  return Object.keys(value).length === 0 ? !isObject(nothing) : value.type !== 'text';
}

/**
 * Returns the fields of an image call that are sent on: all except those in `lost`. A lost field is reported as dropped if its
 * value would have an effect, in JSON or in a form.
 */
export function passedImageParams(
  params: JsonObject,
  call: OperationCall,
  lost: Readonly<Record<string, readonly unknown[]>>,
): JsonObject {
  const passed: JsonObject = {};
  for (const [name, value] of Object.entries(params)) {
    const nothing = Object.hasOwn(lost, name) ? lost[name] : undefined;
    if (!nothing) passed[name] = value;
    else if (value !== undefined && value !== null && !nothing.includes(value)) noteOnce(call.dropped, name);
  }
  return passed;
}
