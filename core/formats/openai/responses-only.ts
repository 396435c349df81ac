import type { OperationCall, ProviderSettings } from '../../contract/provider/provider.ts';

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

/** True if a chat call to one of these models uses the Responses API. */
export function goesByResponses(settings: ProviderSettings, models: readonly unknown[]): boolean {
  const { use_responses_api: asked } = settings;
  if (typeof asked === 'boolean') return asked;
  return models.some((model) => typeof model === 'string' && isResponsesOnly(model));
}

export function goesByResponsesApi(call: OperationCall): boolean {
  return goesByResponses(call.settings, [call.model]);
}
