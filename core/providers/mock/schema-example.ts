import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { referenced } from '../../contract/values/json/json-pointer.ts';
import { numberIn } from './number-in.ts';

/** Maximum characters of an example, beside one long text. References and `minItems` can ask for any number of values. */
const charactersMax = 100_000;

/**
 * Returns a simple value that a JSON Schema allows, so that typed clients can read the mock's reply. Supports the keywords of
 * structured outputs. Strings take `text`. Nesting (and recursion through `$ref`) ends at 12 levels with null, and so do values beyond
 * 100,000 characters.
 */
export function exampleOf(schema: unknown, text: string): unknown {
  return valueFor(schema, { text, root: isObject(schema) ? schema : {}, left: charactersMax }, 0);
}

interface Example {
  readonly text: string;
  readonly root: JsonObject;
  /** Characters that may follow. */
  left: number;
}

function valueFor(schema: unknown, example: Example, depth: number): unknown {
  if (!isObject(schema) || depth > 12 || example.left <= 0) return null;
  example.left--;
  if ('const' in schema) return counted(schema.const, example);
  if (Array.isArray(schema.enum)) return counted(schema.enum[0], example);
  if (typeof schema.$ref === 'string') {
    example.left -= schema.$ref.length;
    return valueFor(referenced(example.root, schema.$ref), example, depth + 1);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const choices = schema[key];
    if (Array.isArray(choices)) return valueFor(choices[0], example, depth + 1);
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object' || isObject(schema.properties)) {
    const properties = isObject(schema.properties) ? schema.properties : {};
    return Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => {
        example.left -= name.length;
        return [name, valueFor(inner, example, depth + 1)];
      }),
    );
  }
  if (type === 'array') {
    const items: unknown[] = [];
    const count = Math.max(1, numberIn(schema.minItems) || 1);
    while (items.length < count && example.left > 0) {
      example.left--;
      items.push(valueFor(schema.items, example, depth + 1));
    }
    return items;
  }
  if (type === 'string') {
    example.left -= example.text.length;
    return example.text;
  }
  if (type === 'integer' || type === 'number') return typeof schema.minimum === 'number' ? schema.minimum : 1;
  return type === 'boolean' ? true : null;
}

function counted(value: unknown, example: Example): unknown {
  example.left -= JSON.stringify(value)?.length ?? 0;
  return value;
}
