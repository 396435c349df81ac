import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { isObject, isText, type JsonObject } from '../../contract/values/json/json.ts';

/**
 * Maximum number of models of a stream that are looked up. A stream states one. Each look-up compares it with all models of the request, so a provider
 * that stated another one in each event would block the process.
 */
const statedModelsMax = 16;

/** Returns a test for the models that the events of one reply state. It is true for those to look up: every event may repeat the one before. */
export function newModels(): (model: unknown) => boolean {
  let last: unknown;
  let left = statedModelsMax;
  return (model) => {
    if (model === last || left === 0) return false;
    last = model;
    left--;
    return true;
  };
}

/**
 * Returns null for a request whose provider calls `model`. A request with `models` or `fallbacks`, or with a `model` that stands for a choice, gets a
 * function from the model that a reply states to the one that the record names; null: that is `model`.
 */
export function servedModelReader(
  { model: requested, models, fallbacks }: JsonObject,
  choosesModel: ProviderAdapter['choosesModel'],
): ((model: unknown) => string | null) | null {
  if (typeof requested !== 'string' || ((models ?? fallbacks ?? null) === null && !choosesModel?.(requested))) return null;
  const others = [models, fallbacks].flat().map((item) => (isObject(item) ? item.model : item));
  const names = [requested, ...others].filter(isText);
  return (model) => {
    if (!isText(model)) return null;
    const named = names.filter((name) => isVersionOf(model, name)).sort((one, other) => other.length - one.length)[0] ?? model;
    return named === requested ? null : named;
  };
}

/** True if a reply to `name` may state `model`: the same, or with a version behind it (`gpt-4o-2024-08-06`). */
function isVersionOf(model: string, name: string): boolean {
  return model === name || (model.startsWith(name) && /^[-:@]/.test(model.slice(name.length)));
}
