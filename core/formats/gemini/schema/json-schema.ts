import { byName } from '../../../contract/values/json/by-name.ts';
import { isObject, isText, type JsonObject } from '../../../contract/values/json/json.ts';
import { referenced } from '../../../contract/values/json/json-pointer.ts';
import { badParam } from '../../bad-param.ts';
import { mergedSchema } from './merge-schemas.ts';

/** Maximum nesting of objects and arrays. Gemini does not publish its limit; this one is the gateway's, as a safeguard. */
const depthMax = 12;
/** Maximum expansions of a recursive schema: Gemini has no references. */
const unrollMax = 2;
/** Maximum nodes of a schema with expanded references. Larger schemas are cut off there. */
const nodesMax = 5_000;
/**
 * Maximum nodes of all schemas of one request. A body has at most 50,000 keys, so only expanded references reach this limit: 2,000 small tools
 * with references took 10 s.
 */
const nodesOfRequestMax = 200_000;
/** Maximum characters of texts, lists and references in the schemas of one request. References and unions repeat them. */
const charactersMax = 10_000_000;
/** Maximum names of properties that the schemas of one request unite. Unions repeat the names beside them for each variant. */
const unitedMax = 500_000;
/** Maximum nesting of unions and similar keywords, which Gemini's depth does not count. It protects the call stack. */
const nestingMax = 100;

/** Called with each keyword that had to be weakened or left out. */
export type NoteChange = (keyword: string) => void;

/**
 * Converts a JSON Schema to Gemini's `Schema`, a subset of OpenAPI 3.0 (https://ai.google.dev/api/caching#Schema, and the types
 * of @google/genai 3.1). References are expanded, `null` becomes `nullable`, and unions become a standalone `anyOf`. Keywords
 * without a counterpart are left out and passed to `note`. Annotations and `additionalProperties: false` are left out without a
 * note: the model adds nothing that is not in the schema. Throws `bad_request` on a reference without a target.
 */
export function toGeminiSchema(schema: JsonObject, param: string, note: NoteChange, work: SchemaWork = newWork()): JsonObject {
  const count = { nodes: 0, ofRequest: work };
  return compile(schema, { root: schema, param, note, depth: 0, nesting: 0, open: [], count });
}

/** Work on all schemas of one request so far. */
export interface SchemaWork {
  nodes: number;
  characters: number;
  united: number;
}

export function newWork(): SchemaWork {
  return { nodes: 0, characters: 0, united: 0 };
}

interface Position {
  readonly root: JsonObject;
  readonly param: string;
  readonly note: NoteChange;
  readonly depth: number;
  readonly nesting: number;
  /** References around this position that are being expanded. */
  readonly open: readonly string[];
  readonly count: { nodes: number; readonly ofRequest: SchemaWork };
}

/** Keywords with the same meaning in both languages. */
const supported = [
  ...['title', 'description', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern'],
  ...['minimum', 'maximum', 'default', 'nullable', 'example', 'propertyOrdering'],
];

/** Constraints that Gemini lacks. Without them, more values are valid than requested. */
const lost = [
  ...['not', 'if', 'then', 'else', 'patternProperties', 'propertyNames', 'contains', 'minContains', 'maxContains', 'uniqueItems'],
  ...['multipleOf', 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties', 'unevaluatedItems', 'contentSchema'],
];

const keywords = [
  ...supported,
  ...lost,
  ...['$ref', 'allOf', 'anyOf', 'oneOf', 'type', 'enum', 'const', 'format', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['properties', 'additionalProperties', 'required', 'items', 'prefixItems'],
];

const types: Readonly<Record<string, string>> = byName({
  ...{ string: 'STRING', number: 'NUMBER', integer: 'INTEGER', boolean: 'BOOLEAN', object: 'OBJECT', array: 'ARRAY' },
  null: 'NULL',
});

const formats: Readonly<Record<string, readonly string[]>> = byName({
  STRING: ['date-time', 'enum'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
});

function compile(given: unknown, around: Position): JsonObject {
  if (!isObject(given)) return { type: typeOf(undefined, around) };
  const position = { ...around, nesting: around.nesting + 1 };
  if (isSpent(position) || position.nesting > nestingMax) {
    position.note('size');
    return { type: 'OBJECT' };
  }
  if (typeof given.$ref === 'string') return compileReference(given, given.$ref, position);
  const schema = mergedSchema(
    readKeywords(given),
    (part) => dereference(part, position),
    (names) => unites(names, position),
  );
  for (const keyword of lost) if (schema[keyword] !== undefined) position.note(keyword);
  const union = Array.isArray(schema.anyOf) ? schema.anyOf : Array.isArray(schema.oneOf) ? schema.oneOf : null;
  if (union !== null) return compileUnion(schema, union, position);
  const named = Array.isArray(schema.type) ? [...new Set(schema.type)] : schema.type === undefined ? [] : [schema.type];
  const wanted = named.filter((type) => type !== 'null');
  const nullable = wanted.length < named.length || schema.nullable === true;
  if (wanted.length > 1) {
    const variants = wanted.map((type) => ({ ...schema, type }));
    return compileUnion({}, nullable ? [...variants, { type: 'null' }] : variants, position);
  }
  const type = typeOf(types[String(wanted[0] ?? (named.length > 0 ? 'null' : impliedType(schema)))], position);
  const out: JsonObject = { type, ...(nullable && type !== 'NULL' ? { nullable: true } : {}) };
  for (const keyword of supported) if (schema[keyword] !== undefined) out[keyword] = schema[keyword];
  for (const value of [...Object.values(out), schema.enum, schema.const]) position.count.ofRequest.characters += lengthOf(value);
  addFormat(schema, type, out, position);
  addBounds(schema, type, out, position);
  addEnum(schema, type, out, position);
  if (type === 'OBJECT') addProperties(schema, out, position);
  if (type === 'ARRAY') addItems(schema, out, position);
  return out;
}

/** Counts one more node. Returns true if the schema, or all schemas of the request, have too many or too long ones. */
function isSpent({ count }: Position): boolean {
  const { ofRequest: work } = count;
  return ++count.nodes > nodesMax || ++work.nodes > nodesOfRequestMax || work.characters > charactersMax;
}

function unites(names: number, { count, note }: Position): boolean {
  count.ofRequest.united += names;
  if (count.ofRequest.united <= unitedMax) return true;
  note('size');
  return false;
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 0;
}

/** Returns a schema with only the keywords that are read here, because references and unions copy it. */
function readKeywords(schema: JsonObject): JsonObject {
  const read: JsonObject = {};
  for (const keyword of keywords) if (Object.hasOwn(schema, keyword)) read[keyword] = schema[keyword];
  return read;
}

/** Vertex AI rejects a schema without a type: "schema didn't specify the schema type field". A text can represent any value. */
function typeOf(type: string | undefined, position: Position): string {
  if (type === undefined) position.note('type');
  return type ?? 'STRING';
}

function compileReference(schema: JsonObject, reference: string, position: Position): JsonObject {
  const { $ref: _, ...beside } = readKeywords(schema);
  position.count.ofRequest.characters += reference.length;
  const target = referenced(position.root, reference);
  if (target === undefined) throw badParam(position.param, `the schema refers to ${reference}, which is not in it`);
  if (position.open.filter((open) => open === reference).length >= unrollMax) {
    position.note('$ref');
    const type = typeOf(types[isObject(target) ? String(target.type ?? impliedType(target)) : ''], position);
    return { type, ...(type === 'ARRAY' ? { items: { type: 'STRING' } } : {}) };
  }
  const merged = isObject(target) ? { ...readKeywords(target), ...beside } : beside;
  return compile(merged, { ...position, open: [...position.open, reference] });
}

/** Returns a part of `allOf`, with its reference expanded. A reference to itself becomes an empty schema. */
function dereference(part: JsonObject, position: Position): JsonObject {
  // References in `allOf` can multiply, so they count as nodes.
  if (isSpent(position)) return {};
  let found = readKeywords(part);
  for (let hops = 0; typeof found.$ref === 'string'; hops++) {
    const target = hops < 20 ? referenced(position.root, found.$ref) : {};
    if (target === undefined) throw badParam(position.param, `the schema refers to ${found.$ref}, which is not in it`);
    position.count.ofRequest.characters += found.$ref.length;
    const { $ref: _, ...beside } = found;
    found = { ...(isObject(target) ? readKeywords(target) : {}), ...beside };
  }
  return found;
}

/**
 * `anyOf` must stand alone in Gemini's language, so the keywords beside it are copied into each variant. A null variant makes the
 * others nullable. A single remaining variant replaces the union.
 */
function compileUnion(schema: JsonObject, union: readonly unknown[], position: Position): JsonObject {
  const { anyOf: _any, oneOf: _one, description, title, ...shared } = schema;
  const isNull = (variant: unknown): boolean => isObject(variant) && (variant.type === 'null' || variant.const === null);
  const variants = union.filter((variant) => !isNull(variant));
  const nullable = variants.length < union.length || shared.nullable === true ? { nullable: true } : {};
  const about = { ...(title === undefined ? {} : { title }), ...(description === undefined ? {} : { description }) };
  const work = position.count.ofRequest;
  const aboutLength = lengthOf(title) + lengthOf(description);
  const compiled = variants.map((variant) => {
    const resolved = isObject(variant) ? variant : {};
    work.characters += aboutLength;
    return { ...(work.characters > charactersMax ? {} : about), ...compile(withShared(resolved, shared), position), ...nullable };
  });
  if (compiled.length === 0) return { type: 'NULL' };
  return compiled.length === 1 ? (compiled[0] as JsonObject) : { anyOf: compiled };
}

function withShared(variant: JsonObject, shared: JsonObject): JsonObject {
  return Object.keys(shared).length === 0 ? variant : { allOf: [shared, variant] };
}

function addFormat(schema: JsonObject, type: string | undefined, out: JsonObject, position: Position): void {
  if (typeof schema.format !== 'string') return;
  if (formats[type ?? '']?.includes(schema.format)) out.format = schema.format;
  else position.note('format');
}

/** Converts exclusive bounds to inclusive ones. This is exact for whole numbers and slightly wider for others. */
function addBounds(schema: JsonObject, type: string | undefined, out: JsonObject, position: Position): void {
  const { exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  const step = type === 'INTEGER' ? 1 : 0;
  if (typeof above === 'number') out.minimum = Math.max(above + step, Number(out.minimum ?? Number.NEGATIVE_INFINITY));
  if (typeof below === 'number') out.maximum = Math.min(below - step, Number(out.maximum ?? Number.POSITIVE_INFINITY));
  if (step === 0 && (typeof above === 'number' || typeof below === 'number')) position.note('exclusiveMinimum');
}

/** Maximum number of enumeration values that go into a description. Describing 480,000 took 60 ms, and no model reads them. */
const describedMax = 1000;

/** Gemini's enumerations hold texts only. Other values go into the description. */
function addEnum(schema: JsonObject, type: string | undefined, out: JsonObject, position: Position): void {
  const given = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? null : [schema.const];
  if (given === null) return;
  const hasNull = given.includes(null);
  const values = hasNull ? given.filter((value) => value !== null) : given;
  if (hasNull && type !== 'NULL') out.nullable = true;
  const texts = type === 'STRING' ? values.filter(isText) : [];
  if (texts.length > 0) {
    out.enum = texts;
    if (texts.length < values.length) position.note('enum');
  } else if (values.length > 0) {
    const described = values.slice(0, describedMax).map((value) => JSON.stringify(value));
    const text = `One of: ${described.join(', ')}${values.length > describedMax ? ', …' : ''}`;
    out.description = typeof out.description === 'string' ? `${out.description}\n${text}` : text;
    position.note('enum');
  }
}

function addProperties(schema: JsonObject, out: JsonObject, position: Position): void {
  if (isObject(schema.additionalProperties)) position.note('additionalProperties');
  if (!isObject(schema.properties)) return;
  if (position.depth >= depthMax) return position.note('depth');
  const inside = { ...position, depth: position.depth + 1 };
  const work = position.count.ofRequest;
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([name, property]) => {
      work.characters += name.length;
      return [name, compile(property, inside)];
    }),
  );
  out.properties = properties;
  const required = Array.isArray(schema.required) ? schema.required : [];
  work.characters += required.length;
  const known = required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name));
  if (known.length < required.length) position.note('required');
  if (known.length > 0) out.required = known;
}

/** An array must have `items`. A tuple becomes an array of its length whose items match any of its members. */
function addItems(schema: JsonObject, out: JsonObject, position: Position): void {
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : Array.isArray(schema.items) ? schema.items : null;
  const inside = { ...position, depth: position.depth + 1 };
  if (tuple !== null && tuple.length > 0) {
    position.note('prefixItems');
    out.items = compile(tuple.length === 1 ? tuple[0] : { anyOf: tuple }, inside);
    out.minItems ??= tuple.length;
    if (schema.items === undefined || schema.items === false) out.maxItems ??= tuple.length;
  } else if (isObject(schema.items) && position.depth < depthMax) {
    out.items = compile(schema.items, inside);
  } else {
    position.note(isObject(schema.items) ? 'depth' : 'items');
    out.items = { type: 'STRING' };
  }
}

/** Returns the type that the other keywords of a schema imply. */
function impliedType(schema: JsonObject): string | undefined {
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array';
  const [value] = Array.isArray(schema.enum) ? schema.enum : [schema.const];
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : undefined;
}
