import * as v from 'valibot';
import { isText, type JsonObject } from '../contract/values/json/json.ts';
import type { CatalogueModel } from './catalogue.ts';
import { invalidParameter, readQuery } from './catalogue-query.ts';
import type { ProviderModel } from './provider-models.ts';

const limitText = v.pipe(
  v.string(),
  v.regex(/^(?:[1-9]\d{0,2}|1000)$/, 'a whole number from 1 to 1000 is expected'),
  v.transform(Number),
);

const pageQuery = v.pipe(
  v.object({ limit: v.optional(limitText), after_id: v.optional(v.string()), before_id: v.optional(v.string()) }),
  v.forward(
    v.check(
      ({ after_id, before_id }) => after_id === undefined || before_id === undefined,
      'cannot be used together with after_id',
    ),
    ['before_id'],
  ),
);

/**
 * Returns one page of models in Anthropic's form (https://docs.anthropic.com/en/api/models-list). Without `limit` a page has all models that
 * remain. An unknown `after_id` or `before_id` throws, as every invalid parameter, `bad_request` naming it.
 */
export function anthropicList(models: readonly (CatalogueModel | ProviderModel)[], given: URLSearchParams): JsonObject {
  const { limit = models.length, after_id: after, before_id: before } = readQuery(pageQuery, given);
  const at = (name: string, id: string): number => {
    const found = models.findIndex((model) => model.id === id);
    if (found < 0) throw invalidParameter(name, 'expected the id of a model in this list');
    return found;
  };
  const end = before === undefined ? models.length : at('before_id', before);
  const start = after === undefined ? 0 : at('after_id', after) + 1;
  const rest = models.slice(start, end);
  const page = before === undefined ? rest.slice(0, limit) : rest.slice(Math.max(0, rest.length - limit));
  const [first = null, last = null] = [page[0]?.id, page.at(-1)?.id];
  return { data: page.map(anthropicModel), has_more: page.length < rest.length, first_id: first, last_id: last };
}

/** Members that Anthropic's SDKs require. Other providers have some of these names with values of other shapes. */
const anthropicDefaults: JsonObject = {
  capabilities: null,
  deprecated_at: null,
  lifecycle: 'active',
  line: null,
  max_input_tokens: null,
  max_tokens: null,
  retires_at: null,
};

/** Converts an entry of the model list to Anthropic's form. Only its own models have the members that the list states. */
export function anthropicModel(model: CatalogueModel | ProviderModel): JsonObject {
  const stated: JsonObject = model.owned_by === 'anthropic' ? { ...model } : {};
  return {
    type: 'model',
    id: model.id,
    display_name: displayName(model),
    created_at: new Date(model.created * 1000).toISOString(),
    ...Object.fromEntries(Object.entries(anthropicDefaults).map(([name, value]) => [name, stated[name] ?? value])),
  };
}

/** Returns the name that the provider states for people (OpenAI-compatible lists with names have `name`), or the id. */
function displayName(model: CatalogueModel | ProviderModel): string {
  const { display_name: display, name }: JsonObject = { ...model };
  return [display, name].find(isText) ?? model.id;
}
