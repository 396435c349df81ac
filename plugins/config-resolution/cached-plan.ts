import type { PlanSource } from '../../core/contract/plugin/core-plugin.ts';
import type { Plan } from '../../core/contract/plugin/plan.ts';
import type { ConfigDocument } from '../../core/contract/protocol/documents.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json.ts';

/** One per document, so that its plan is compiled once. */
const withCache = new WeakMap<ConfigDocument, ConfigDocument>();

/**
 * Returns the plan of `x-svc-cache: simple`: the config of the request with the simple cache, unless the config has cache
 * settings.
 */
export function cachedPlan(document: ConfigDocument | null, inline: string | null, plans: PlanSource): Plan {
  if (document) return plans.saved(cachedDocument(document));
  if (inline === null) return plans.inline(JSON.stringify(cached({})));
  try {
    const config: unknown = JSON.parse(inline);
    return plans.inline(isObject(config) && config.cache === undefined ? JSON.stringify(cached(config)) : inline);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return plans.inline(inline);
    throw thrown;
  }
}

function cachedDocument(document: ConfigDocument): ConfigDocument {
  if (document.config.cache !== undefined) return document;
  let made = withCache.get(document);
  if (!made) {
    made = { ...document, id: `${document.id} cached`, config: cached(document.config) };
    withCache.set(document, made);
  }
  return made;
}

function cached(config: JsonObject): JsonObject {
  return { ...config, cache: { mode: 'simple' } };
}
