import { isObject, isText, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';

/** More queries, and more characters in one, than a reply has. A hostile provider could send any number. */
const queriesMax = 1_000;
const queryCharsMax = 10_000;

/**
 * Adds the queries that the grounding of a candidate lists. Events of a stream may repeat them, so that equal queries count once.
 * https://ai.google.dev/gemini-api/docs/google-search
 */
export function addQueries(queries: Set<string>, { groundingMetadata: metadata }: JsonObject): void {
  const sent = isObject(metadata) ? metadata.webSearchQueries : undefined;
  if (!Array.isArray(sent)) return;
  for (const query of sent) if (isText(query) && query.length <= queryCharsMax && queries.size < queriesMax) queries.add(query);
}

/** Returns the queries of a whole reply. */
export function queriesOf(candidates: unknown): Set<string> {
  const queries = new Set<string>();
  for (const candidate of objectsIn(candidates)) addQueries(queries, candidate);
  return queries;
}

/** Returns the usage with searches. Google bills queries or grounded prompts, by the generation of the model. */
export function withSearches(usage: Usage, { size }: ReadonlySet<string>): Usage {
  return size === 0 ? usage : { ...usage, units: { ...usage.units, web_search: size, grounded_prompts: 1 } };
}
