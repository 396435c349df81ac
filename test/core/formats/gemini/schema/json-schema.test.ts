import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../../core/contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../../../../core/contract/values/json/json.ts';
import { toGeminiSchema } from '../../../../../core/formats/gemini/schema/json-schema.ts';

function compiled(schema: JsonObject): { schema: JsonObject; changes: string[] } {
  const changes = new Set<string>();
  const result = toGeminiSchema(schema, 'response_format.json_schema.schema', (keyword) => changes.add(keyword));
  return { schema: result, changes: [...changes] };
}

describe('a schema that Gemini supports', () => {
  it.each<[string, JsonObject, JsonObject]>([
    ['a text', { type: 'string', minLength: 1, pattern: 'a+' }, { type: 'STRING', minLength: 1, pattern: 'a+' }],
    ['an optional null', { type: ['integer', 'null'], minimum: 1 }, { type: 'INTEGER', nullable: true, minimum: 1 }],
    ['a union of null', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'STRING', nullable: true }],
    ['nothing but null', { type: 'null' }, { type: 'NULL' }],
    ['a constant text', { const: 'yes' }, { type: 'STRING', enum: ['yes'] }],
    ['an enumeration with null', { enum: ['a', null] }, { type: 'STRING', enum: ['a'], nullable: true }],
    ['a whole number above a bound', { type: 'integer', exclusiveMinimum: 0 }, { type: 'INTEGER', minimum: 1 }],
    ['a date', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    [
      'a type that goes without saying',
      { properties: { a: { type: 'boolean' } } },
      { type: 'OBJECT', properties: { a: { type: 'BOOLEAN' } } },
    ],
    [
      'several types',
      { type: ['string', 'number'], description: 'd' },
      {
        anyOf: [
          { type: 'STRING', description: 'd' },
          { type: 'NUMBER', description: 'd' },
        ],
      },
    ],
    [
      'what stands beside a union, in each of its variants',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        anyOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      {
        anyOf: [
          { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } }, required: ['a'] },
          { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } }, required: ['b'] },
        ],
      },
    ],
    [
      'parts that hold together',
      {
        allOf: [{ $ref: '#/$defs/named' }, { properties: { age: { type: 'integer' } }, required: ['age'] }],
        $defs: { named: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
      },
      { type: 'OBJECT', properties: { name: { type: 'STRING' }, age: { type: 'INTEGER' } }, required: ['name', 'age'] },
    ],
    [
      'a reference with escapes, and words beside it',
      {
        type: 'array',
        items: { $ref: '#/$defs/a~1b%20c', description: 'here' },
        $defs: { 'a/b c': { type: 'number', description: 'there' } },
      },
      { type: 'ARRAY', items: { type: 'NUMBER', description: 'here' } },
    ],
  ])('%s', (_, schema, expected) => {
    expect(compiled(schema)).toEqual({ schema: expected, changes: [] });
  });

  it('drops annotations and closed objects without a report', () => {
    const schema = {
      $schema: 'x',
      $id: 'y',
      $comment: 'z',
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'string', examples: ['q'], readOnly: true } },
    };
    expect(compiled(schema)).toEqual({ schema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } }, changes: [] });
  });
});

describe('schema keywords that Gemini lacks are dropped and reported', () => {
  it.each<[string, JsonObject, JsonObject, string[]]>([
    ['a format', { type: 'string', format: 'uuid' }, { type: 'STRING' }, ['format']],
    ['a multiple', { type: 'number', multipleOf: 2 }, { type: 'NUMBER' }, ['multipleOf']],
    [
      'open properties',
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'OBJECT' },
      ['additionalProperties'],
    ],
    ['an enumeration of numbers', { type: 'integer', enum: [1, 2] }, { type: 'INTEGER', description: 'One of: 1, 2' }, ['enum']],
    ['an array of anything', { type: 'array' }, { type: 'ARRAY', items: { type: 'STRING' } }, ['items']],
    ['an array of any type', { type: 'array', items: {} }, { type: 'ARRAY', items: { type: 'STRING' } }, ['type']],
    // As Pydantic describes `Any`. Vertex AI rejects a schema without a type.
    [
      'any type',
      { type: 'object', properties: { a: { title: 'A', default: null }, b: true } },
      { type: 'OBJECT', properties: { a: { type: 'STRING', title: 'A', default: null }, b: { type: 'STRING' } } },
      ['type'],
    ],
    [
      'a bound that is not reached',
      { type: 'number', exclusiveMaximum: 1 },
      { type: 'NUMBER', maximum: 1 },
      ['exclusiveMinimum'],
    ],
    [
      'a required property that is not there',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'] },
      { type: 'OBJECT', properties: { a: { type: 'STRING' } }, required: ['a'] },
      ['required'],
    ],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      { type: 'ARRAY', items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] }, minItems: 2, maxItems: 2 },
      ['prefixItems'],
    ],
  ])('%s', (_, schema, expected, changes) => {
    expect(compiled(schema)).toEqual({ schema: expected, changes });
  });

  it('a recursive schema is expanded twice', () => {
    const { schema, changes } = compiled({ type: 'object', properties: { next: { $ref: '#' } } });
    expect(schema).toEqual({
      type: 'OBJECT',
      properties: {
        next: { type: 'OBJECT', properties: { next: { type: 'OBJECT', properties: { next: { type: 'OBJECT' } } } } },
      },
    });
    expect(changes).toEqual(['$ref']);
  });

  it('expansion stops at the nesting limit', () => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < 40; level++) schema = { type: 'object', properties: { p: schema } };
    const result = compiled(schema);
    expect(result.changes).toEqual(['depth']);
    let depth = 0;
    for (let at: unknown = result.schema; isObject(at) && isObject(at.properties); at = at.properties.p) depth++;
    expect(depth).toBe(12);
  });
});

describe('a hostile schema', () => {
  it('is rejected with the name of a dangling reference', () => {
    expect(() => compiled({ properties: { a: { $ref: '#/$defs/none' } } })).toThrow(GatewayError);
    expect(() => compiled({ $ref: 'https://example.com/schema.json' })).toThrow(
      /response_format.json_schema.schema: .*example.com/,
    );
  });

  it('has a limit for multiplying references, through unions and through allOf', () => {
    const refs = Array.from({ length: 1_000 }, () => ({ $ref: '#' }));
    for (const keyword of ['anyOf', 'allOf', 'oneOf']) {
      const { changes } = compiled({ type: 'object', [keyword]: refs, properties: { a: { anyOf: refs } } });
      expect(changes).toContain('size');
    }
  });

  it('has a limit for the depth of the stack', () => {
    let schema: JsonObject = { type: 'string' };
    for (let level = 0; level < 5_000; level++) schema = { anyOf: [schema, { type: 'number' }] };
    expect(compiled(schema).changes).toEqual(['size']);
    let parts: JsonObject = { type: 'string' };
    for (let level = 0; level < 5_000; level++) parts = { allOf: [parts] };
    expect(compiled(parts).schema).toBeDefined();
  });

  it('can have properties of any name', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__"]}',
    );
    const result = compiled(schema).schema as { properties: JsonObject };
    expect(Object.keys(result.properties)).toEqual(['__proto__', 'constructor']);
    expect(JSON.parse(JSON.stringify(result)).required).toEqual(['__proto__']);
  });
});

it('JSON schema for Gemini: describes at most 1,000 values of an enumeration', () => {
  const numbers = Array.from({ length: 1001 }, (_, at) => at);
  const described = (values: number[]): string => compiled({ type: 'integer', enum: values }).schema.description as string;
  expect(described(numbers.slice(1))).toBe(`One of: ${numbers.slice(1).join(', ')}`);
  expect(described(numbers)).toBe(`One of: ${numbers.slice(0, 1000).join(', ')}, …`);
});
