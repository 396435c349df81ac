import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { OperationError, resolve } from './references.ts';

/** Keywords of OpenAPI that JSON Schema does not have, and those that would change the meaning of references. */
const dropped: ReadonlySet<string> = new Set([
  'xml',
  'externalDocs',
  'discriminator',
  'example',
  '$id',
  '$schema',
  '$anchor',
  '$defs',
]);
/** Keywords with values that are no schemas. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required', 'type']);
/** Keywords with schemas by name. */
const named: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas']);

/** Maximum number of definitions of one tool. */
const definitionsMax = 200;

/** Schemas of one tool. What they refer to in the document becomes a definition of the tool, so that recursive schemas stay finite. */
export class ToolSchemas {
  readonly #document: unknown;
  readonly #names = new Map<string, string>();
  readonly #definitions: JsonObject = {};

  constructor(document: unknown) {
    this.#document = document;
  }

  /** Returns a schema of the document as JSON Schema. Throws OperationError for a reference that cannot be followed. */
  of(schema: unknown): unknown {
    if (!isObject(schema)) return schema;
    const made: JsonObject = {};
    for (const [key, value] of Object.entries(schema)) {
      if (dropped.has(key) || key.startsWith('x-')) continue;
      if (key === '$ref' && typeof value === 'string') made.$ref = `#/$defs/${this.#define(value)}`;
      else if (data.has(key)) made[key] = value;
      else if (named.has(key) && isObject(value)) made[key] = mapped(value, (one) => this.of(one));
      else made[key] = Array.isArray(value) ? value.map((one) => this.of(one)) : this.of(value);
    }
    return made;
  }

  /** The definitions of all schemas so far; undefined if there are none. */
  definitions(): JsonObject | undefined {
    return this.#names.size === 0 ? undefined : this.#definitions;
  }

  #define(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    if (this.#names.size === definitionsMax) throw new OperationError(`its schema refers to more than ${definitionsMax} others`);
    const target = resolve(this.#document, reference);
    const plain = reference.slice(reference.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9_-]/g, '_') || 'schema';
    const name = Object.hasOwn(this.#definitions, plain) ? `${plain}_${this.#names.size}` : plain;
    this.#names.set(reference, name);
    this.#definitions[name] = {};
    this.#definitions[name] = this.of(target);
    return name;
  }
}

/** Names like `__proto__` stay ordinary members. */
function mapped(values: JsonObject, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
