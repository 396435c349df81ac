import { isObject } from '../../core/contract/values/json/json.ts';
import { attributeOf } from './filter-to-sql.ts';

interface Selection {
  readonly attributes?: string | undefined;
  readonly excludedAttributes?: string | undefined;
}

/** Returned whatever the request selects (RFC 7643 §2.4, `returned: always`). */
const always: ReadonlySet<string> = new Set(['schemas', 'id', 'meta']);

/** Limits a resource to the attributes that a request selects. */
export function selectAttributes<Resource extends object>(
  resource: Resource,
  selection: Selection,
  schema: string,
): Partial<Resource> {
  const { attributes, excludedAttributes } = selection;
  if (attributes === undefined && excludedAttributes === undefined) return resource;
  const named = namesOf(attributes ?? excludedAttributes ?? '', schema);
  return prune(resource, attributes !== undefined, named, '') as Partial<Resource>;
}

/** True if the request wants this top-level attribute. */
export function wants(attribute: string, { attributes, excludedAttributes }: Selection, schema: string): boolean {
  const name = attribute.toLowerCase();
  if (attributes !== undefined) return [...namesOf(attributes, schema)].some((one) => one === name || one.startsWith(`${name}.`));
  return excludedAttributes === undefined || !namesOf(excludedAttributes, schema).has(name);
}

function prune(value: unknown, keeps: boolean, named: ReadonlySet<string>, prefix: string): unknown {
  if (Array.isArray(value)) return value.map((one) => prune(one, keeps, named, prefix));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const path = prefix + key.toLowerCase();
    if ((prefix === '' && always.has(path)) || named.has(path) === keeps) {
      const isWhole = (prefix === '' && always.has(path)) || keeps;
      return [[key, isWhole ? inner : prune(inner, keeps, named, `${path}.`)]];
    }
    if (!keeps) return [];
    const below = [...named].some((one) => one.startsWith(`${path}.`));
    return below ? [[key, prune(inner, keeps, named, `${path}.`)]] : [];
  });
  return Object.fromEntries(entries);
}

function namesOf(list: string, schema: string): Set<string> {
  return new Set(list.split(',').map((one) => attributeOf(one.trim(), schema)));
}
