import type { Filter } from 'scim2-parse-filter';
import * as v from 'valibot';
import { isObject } from '../../core/contract/values/json/json.ts';
import { oneOf } from '../../core/contract/values/text/one-of.ts';
import { parseFilter } from './filter.ts';
import { attributeOf } from './filter-to-sql.ts';
import { ScimError } from './scim-error.ts';

/** The part of a resource that an operation changes. Names are in lower case. */
interface PatchPath {
  readonly attribute: string;
  readonly filter: Filter | null;
  readonly sub: string | null;
}

/** One operation on one attribute. `value` is undefined for a `remove` without value. */
export interface PatchStep {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: PatchPath;
  /** False for attributes from an object without `path`. Read-only ones among them are ignored. */
  readonly isNamed: boolean;
  readonly value: unknown;
  /** Names the operation in errors, such as `Operations[0]`. */
  readonly at: string;
}

const operation = v.looseObject({
  op: v.pipe(v.string(), v.toLowerCase(), oneOf(['add', 'remove', 'replace'])),
  path: v.nullish(v.pipe(v.string(), v.maxLength(2_048, 'at most 2,048 characters'))),
  value: v.optional(v.unknown()),
});

/** Body of a PATCH. Clients write the names of its members in any case; Microsoft's validator sends an empty list. */
export const patchBody = v.pipe(
  v.looseObject({}),
  v.metadata({
    jsonSchema: {
      type: 'object',
      required: ['Operations'],
      properties: {
        schemas: { type: 'array', items: { type: 'string' } },
        Operations: {
          type: 'array',
          items: {
            type: 'object',
            required: ['op'],
            properties: { op: { enum: ['add', 'remove', 'replace'] }, path: { type: 'string' }, value: {} },
          },
        },
      },
    },
  }),
  v.transform((body) => {
    const [, sent] = Object.entries(body).find(([name]) => name.toLowerCase() === 'operations') ?? [];
    return { Operations: isObject(sent) ? [sent] : sent };
  }),
  v.object({ Operations: v.pipe(v.array(operation), v.maxLength(1_000, 'at most 1,000 operations')) }),
);

/** Splits operations into one step per attribute: an object without `path` names several. Throws `invalidPath`. */
export function patchSteps(body: v.InferOutput<typeof patchBody>, schema: string): PatchStep[] {
  return body.Operations.flatMap(({ op, path, value }, index): PatchStep[] => {
    const at = `Operations[${index}]`;
    if (path) return [{ op, path: parsePath(path, schema, `${at}.path`), isNamed: true, value, at }];
    if (op === 'remove') throw new ScimError('noTarget', `${at}.path: required for remove`);
    // The client of the Java library SCIM-SDK sends the object in a list.
    const attributes = Array.isArray(value) && value.length === 1 ? value[0] : value;
    if (!isObject(attributes)) throw new ScimError('invalidValue', `${at}.value: an object is expected if there is no path`);
    // An element of a list such as members. It names no attribute, so it would have no effect.
    if (attributes !== value && 'value' in attributes)
      throw new ScimError('noTarget', `${at}.path: required for an element of a list`);
    return Object.entries(attributes).flatMap(([name, inner]) => ofName(name, inner, schema, op, at));
  });
}

/** Attributes of an extension are sent as an object under the name of its schema. */
function ofName(name: string, value: unknown, schema: string, op: PatchStep['op'], at: string): PatchStep[] {
  if (name.toLowerCase() === schema.toLowerCase() && isObject(value)) {
    return Object.entries(value).flatMap(([inner, one]) => ofName(inner, one, schema, op, at));
  }
  return [{ op, path: parsePath(name, schema, `${at}.value`), isNamed: false, value, at }];
}

/** Throws `invalidPath` if a path selects elements of an attribute that is no list. Ignoring the filter would change another value than the path names. */
export function requireNoFilter(attribute: string, { filter }: PatchPath): void {
  if (filter !== null) throw new ScimError('invalidPath', `${attribute}: not a list, so a path cannot select elements with [ ]`);
}

/** Like `requireNoFilter`, also for paths that name a part of an attribute without parts. */
export function requireSimple(attribute: string, path: PatchPath): void {
  requireNoFilter(attribute, path);
  if (path.sub !== null) throw new ScimError('invalidPath', `${attribute}.${path.sub}: ${attribute} has no parts`);
}

const pathShape = /^((?:urn:[\w.:-]+:)?[\w$-]+)(?:\[(.*)\])?(?:\.([\w$-]+))?$/is;

function parsePath(text: string, schema: string, field: string): PatchPath {
  const trimmed = text.trim();
  const found = pathShape.exec(trimmed);
  // Extensions such as the one of enterprises have attributes that are not stored.
  const foreign = /^urn:/i.test(trimmed) && !trimmed.toLowerCase().startsWith(`${schema.toLowerCase()}:`);
  if (foreign) return { attribute: trimmed.toLowerCase(), filter: null, sub: null };
  if (!found) throw new ScimError('invalidPath', `${field}: not a path such as emails[type eq "work"].value`);
  const [, name = '', filter, sub] = found;
  return {
    attribute: attributeOf(name, schema),
    filter: filter === undefined ? null : parseFilter(filter, field),
    sub: sub?.toLowerCase() ?? null,
  };
}
