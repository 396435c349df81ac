import type { ConfigChoice } from '../../contract/plugin/requests/config-choice.ts';
import type { ConfigDocument } from '../../contract/protocol/documents.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

type CacheMode = NonNullable<ConfigChoice['cacheMode']>;

/** The variants of a saved config with a cache. One object per document and mode, so that each plan is compiled once. */
const cachedDocuments = {
  simple: new WeakMap<ConfigDocument, ConfigDocument>(),
  semantic: new WeakMap<ConfigDocument, ConfigDocument>(),
};

/** Returns a saved config with this cache, unless it has cache settings. */
export function cachedDocument(document: ConfigDocument, mode: CacheMode): ConfigDocument {
  if (document.config.cache !== undefined) return document;
  let made = cachedDocuments[mode].get(document);
  if (!made) {
    made = { ...document, id: `${document.id} ${mode} cache`, config: cached(document.config, mode) };
    cachedDocuments[mode].set(document, made);
  }
  return made;
}

/** Returns the text of an inline config with this cache, unless it has cache settings. Null: the empty config. */
export function cachedText(inline: string | null, mode: CacheMode): string {
  if (inline === null) return JSON.stringify(cached({}, mode));
  try {
    const config: unknown = JSON.parse(inline);
    return isObject(config) && config.cache === undefined ? JSON.stringify(cached(config, mode)) : inline;
  } catch (thrown) {
    // The error is reported when the config is parsed.
    if (thrown instanceof SyntaxError) return inline;
    throw thrown;
  }
}

function cached(config: JsonObject, mode: CacheMode): JsonObject {
  return { ...config, cache: { mode } };
}
