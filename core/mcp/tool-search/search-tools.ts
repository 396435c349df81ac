import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

interface Indexed {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: string;
}

/**
 * Indexes by the hash of what they index, because the tools of a virtual server are a new list for each search. An index takes about 15 ms for 1,000
 * tools with short descriptions.
 */
const indexes = new LRUCache<string, Promise<MiniSearch<Indexed>>>({
  max: 100,
  maxSize: 8 * 1024 * 1024,
});

/** Maximum number of characters of a name, a description or parameters that are searched. */
const indexedCharsMax = 8_000;
/** Maximum number of characters of all names, of all descriptions, or of all parameters, if each has an equal share. */
const listCharsMax = 1_000_000;
/** Every tool is searched in so many characters, however many there are. */
const indexedCharsMin = 100;
/** Approximate number of characters that are indexed in one turn of the event loop. They take up to 10 ms. */
const turnCharsMax = 20_000;

/**
 * Maximum number of wrong letters in a word, and of words in a query. With the six of MiniSearch, 30 long words took three seconds in
 * descriptions of 1 MB.
 */
const editsMax = 2;
const termsMax = 32;

/** Returns the tools that match a query in plain language, the best first (BM25+ over names, descriptions and parameters). */
export async function searchTools(tools: readonly JsonObject[], query: string, limit: number): Promise<JsonObject[]> {
  const index = await indexOf(tools);
  const options = {
    prefix: (term: string) => term.length > 2,
    fuzzy: (term: string) => (term.length > 4 ? 0.2 : false),
    maxFuzzy: editsMax,
    tokenize: (text: string) => [...new Set(words(text))].slice(0, termsMax),
  };
  return index
    .search(query, { ...options, boost: { name: 3, description: 1.5 } })
    .slice(0, limit)
    .map(({ id }) => tools[id] as JsonObject);
}

function indexOf(tools: readonly JsonObject[]): Promise<MiniSearch<Indexed>> {
  const charsMax = Math.max(indexedCharsMin, Math.min(indexedCharsMax, Math.floor(listCharsMax / tools.length)));
  const indexed = tools.map((tool, id) => ({
    id,
    name: `${tool.name} ${tool.title ?? ''}`.slice(0, charsMax),
    description: String(tool.description ?? '').slice(0, charsMax),
    parameters: parametersOf(tool.inputSchema, charsMax),
  }));
  const text = JSON.stringify(indexed);
  const key = hash('sha256', text, 'base64url');
  const known = indexes.get(key);
  if (known) return known;
  const index = new MiniSearch<Indexed>({ fields: ['name', 'description', 'parameters'], tokenize: words });
  const added = index.addAllAsync(indexed, { chunkSize: Math.ceil(turnCharsMax / charsMax) }).then(() => index);
  indexes.set(key, added, { size: text.length });
  return added;
}

/** Splits at everything but letters and digits, and between `camelCase` words. */
function words(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function parametersOf(schema: unknown, charsMax: number): string {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties)
    .map(([name, one]) => `${name} ${isObject(one) && typeof one.description === 'string' ? one.description : ''}`)
    .join(' ')
    .slice(0, charsMax);
}
