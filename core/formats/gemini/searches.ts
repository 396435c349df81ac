import { isObject, isText, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';

/** More queries, and more characters in one, than a reply has. A hostile provider could send any number. */
const queriesMax = 1_000;
const queryCharsMax = 10_000;

/** Searches that the grounding of a reply states. */
export interface Searches {
  /** Events of a stream may repeat queries, so that equal ones count once. */
  readonly queries: Set<string>;
  /** True if a source is a place of Google Maps. */
  hasMaps: boolean;
}

export function newSearches(): Searches {
  return { queries: new Set(), hasMaps: false };
}

/**
 * Adds the queries and sources that the grounding of a candidate lists. https://ai.google.dev/gemini-api/docs/google-search and
 * https://ai.google.dev/gemini-api/docs/maps-grounding
 */
export function addGrounding(searches: Searches, { groundingMetadata: metadata }: JsonObject): void {
  if (!isObject(metadata)) return;
  addQueries(searches, metadata.webSearchQueries);
  searches.hasMaps ||= objectsIn(metadata.groundingChunks).some(({ maps }) => isObject(maps));
}

export function addQueries({ queries }: Searches, sent: unknown): void {
  if (!Array.isArray(sent)) return;
  for (const query of sent) if (isText(query) && query.length <= queryCharsMax && queries.size < queriesMax) queries.add(query);
}

/** Returns the searches of a whole reply. */
export function searchesOf(candidates: unknown): Searches {
  const searches = newSearches();
  for (const candidate of objectsIn(candidates)) addGrounding(searches, candidate);
  return searches;
}

/** Returns the usage with searches. Google bills queries or grounded prompts, by the generation of the model, and Google Maps apart. */
export function withSearches(usage: Usage, { queries: { size }, hasMaps }: Searches): Usage {
  if (size === 0 && !hasMaps) return usage;
  const ofWeb = size === 0 ? {} : { web_search: size, grounded_prompts: 1 };
  return { ...usage, units: { ...usage.units, ...ofWeb, ...(hasMaps ? { maps_prompts: 1 } : {}) } };
}
