import { isObject, type JsonObject } from '../../../contract/values/json/json.ts';

/**
 * Returns a schema with its `allOf` merged: properties and required names are united, bounds narrowed, and of all other keywords
 * the last value applies. `resolve` replaces a part that is a reference by its target. `spend` receives the number of names before they are
 * united, and returns false if they are too many: then the names of this part are left out.
 */
export function mergedSchema(
  schema: JsonObject,
  resolve: (part: JsonObject) => JsonObject,
  spend: (names: number) => boolean,
  nesting = 0,
): JsonObject {
  if (!Array.isArray(schema.allOf) || nesting > 20) return schema;
  const { allOf, ...own } = schema;
  const merged = new MergedSchema(spend);
  for (const part of allOf) if (isObject(part)) merged.add(mergedSchema(resolve(part), resolve, spend, nesting + 1));
  merged.add(own);
  return merged.whole();
}

/** The keywords of several schemas. A copy for each schema would take quadratic time. */
class MergedSchema {
  readonly #spend: (names: number) => boolean;
  readonly #keywords: Map<string, unknown> = new Map();
  /** United properties; null if at most one schema has any. */
  #properties: Map<string, unknown> | null = null;
  /** United names of required properties; null if at most one schema has any. */
  #required: Set<unknown> | null = null;

  constructor(spend: (names: number) => boolean) {
    this.#spend = spend;
  }

  add(part: JsonObject): void {
    for (const [keyword, value] of Object.entries(part)) this.#keywords.set(keyword, this.#merged(keyword, value));
  }

  whole(): JsonObject {
    if (this.#properties !== null) this.#keywords.set('properties', Object.fromEntries(this.#properties));
    if (this.#required !== null) this.#keywords.set('required', [...this.#required]);
    return Object.fromEntries(this.#keywords);
  }

  #merged(keyword: string, value: unknown): unknown {
    const known = this.#keywords.get(keyword);
    if (keyword === 'properties') return this.#withProperties(known, value);
    if (keyword === 'required') return this.#withRequired(known, value);
    const narrower = narrowing.get(keyword);
    return narrower && typeof known === 'number' && typeof value === 'number' ? narrower(known, value) : value;
  }

  #withProperties(known: unknown, value: unknown): unknown {
    if (!isObject(known) || !isObject(value)) {
      this.#properties = null;
      return value;
    }
    const added = Object.entries(value);
    const before = this.#properties === null ? Object.entries(known) : [];
    if (!this.#spend(before.length + added.length)) return known;
    this.#properties ??= new Map(before);
    for (const [name, property] of added) {
      const other = this.#properties.get(name);
      this.#properties.set(name, isObject(other) && isObject(property) ? { allOf: [other, property] } : property);
    }
    return known;
  }

  #withRequired(known: unknown, value: unknown): unknown {
    if (!Array.isArray(known) || !Array.isArray(value)) {
      this.#required = null;
      return value;
    }
    if (!this.#spend((this.#required === null ? known.length : 0) + value.length)) return known;
    this.#required ??= new Set(known);
    for (const name of value) this.#required.add(name);
    return known;
  }
}

const narrowing: ReadonlyMap<string, (a: number, b: number) => number> = new Map([
  ...(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'] as const).map((key) => [key, Math.max] as const),
  ...(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'] as const).map((key) => [key, Math.min] as const),
]);
