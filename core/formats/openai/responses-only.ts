import type { OperationCall } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * OpenAI's models without chat completions, by the name of their family: those in the SDK's list that chat calls cannot name
 * (`ResponsesModel` in https://github.com/openai/openai-node/blob/master/src/resources/shared.ts), and the other models of the
 * same families. Looked up 2026-11-28. Families are matched because a list of names would be out of date with the next release.
 */
const responsesOnly =
  /(^|[/.:])(o\d+-pro|o\d+(-mini)?-deep-research|computer-use|codex-mini|gpt-\d+(\.\d+)?-(pro|codex|cyber|rosalind|astra-law)|gpt-(daybreak|rosalind))(?![a-z0-9])/i;

/** Results by model name, because matching takes about 1 % of a call. Callers choose the names. */
const known = new Map<string, boolean>();
const knownMax = 1_000;

/** True for a model of OpenAI that is known to have only the Responses API. */
export function isResponsesOnly(model: string): boolean {
  let result = known.get(model);
  if (result === undefined) {
    result = responsesOnly.test(model);
    if (known.size >= knownMax) known.clear();
    if (model.length <= 200) known.set(model, result);
  }
  return result;
}

/**
 * OpenAI's models that reject functions in chat completions while they reason: "To use function tools, use /v1/responses or set reasoning_effort
 * to 'none'" (https://github.com/openai/openai-openapi/issues/541, https://github.com/danny-avila/LibreChat/issues/14355). GPT-5.4 reasons only if
 * the call asks for it, later models unless it asks for none. Looked up 2026-11-29.
 */
const reasonsIfAsked = /(^|[/.:])gpt-5\.4(?!\d)(?!.*chat)/i;
const reasonsUnlessNone = /(^|[/.:])gpt-(5\.([5-9]|\d\d)|([6-9]|\d\d)(\.\d+)?)(?![\d.])(?!.*chat)/i;

/** True if chat completions reject the functions of this call. Reads the parameters of a chat call, and of a Messages call that becomes one. */
function rejectsFunctions(model: string, { tools, reasoning_effort: ofChat, output_config: config }: JsonObject): boolean {
  if (!Array.isArray(tools) || !tools.some(isFunction)) return false;
  const effort = ofChat ?? (isObject(config) ? config.effort : null);
  if (effort === 'none') return false;
  return reasonsUnlessNone.test(model) || (typeof effort === 'string' && reasonsIfAsked.test(model));
}

/** Messages calls have functions of the type `custom` or without a type. */
function isFunction(tool: unknown): boolean {
  return isObject(tool) && [undefined, null, 'function', 'custom'].includes(tool.type as string | null | undefined);
}

/** True if a chat call to one of these models uses the Responses API. Other hosts than OpenAI's may accept functions in any call. */
export function goesByResponses({ settings, params }: OperationCall, models: readonly unknown[]): boolean {
  const { use_responses_api: asked, custom_host: host } = settings;
  if (typeof asked === 'boolean') return asked;
  const isOwnHost = typeof host !== 'string' || host === '';
  return models.some(
    (model) => typeof model === 'string' && (isResponsesOnly(model) || (isOwnHost && rejectsFunctions(model, params))),
  );
}

/** True if OpenAI serves this chat only by its Responses API. */
export function goesByResponsesApi(call: OperationCall): boolean {
  return goesByResponses(call, [call.model]);
}
