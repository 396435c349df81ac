import MiniSearch from 'minisearch';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

interface Indexed {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: string;
}

/** An index takes about 15 ms for 1,000 tools, so it is kept as long as its list. */
const indexes = new WeakMap<readonly JsonObject[], MiniSearch<Indexed>>();

/**
 * Maximum number of wrong letters in a word, and of words in a query. With the six of MiniSearch, 30 long words took three seconds in
 * descriptions of 1 MB.
 */
const editsMax = 2;
const termsMax = 32;

/** Returns the tools that match a query in plain language, the best first (BM25+ over names, descriptions and parameters). */
export function searchTools(tools: readonly JsonObject[], query: string, limit: number): JsonObject[] {
  const index = indexes.get(tools) ?? indexOf(tools);
  indexes.set(tools, index);
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

function indexOf(tools: readonly JsonObject[]): MiniSearch<Indexed> {
  const index = new MiniSearch<Indexed>({ fields: ['name', 'description', 'parameters'], tokenize: words });
  index.addAll(
    tools.map((tool, id) => ({
      id,
      name: `${tool.name} ${tool.title ?? ''}`,
      description: String(tool.description ?? '').slice(0, indexedCharsMax),
      parameters: parametersOf(tool.inputSchema).slice(0, indexedCharsMax),
    })),
  );
  return index;
}

/** Maximum number of characters of a description that are searched. */
const indexedCharsMax = 8_000;

/** Splits at everything but letters and digits, and between `camelCase` words. */
function words(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function parametersOf(schema: unknown): string {
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.entries(properties)
    .map(([name, one]) => `${name} ${isObject(one) && typeof one.description === 'string' ? one.description : ''}`)
    .join(' ');
}
