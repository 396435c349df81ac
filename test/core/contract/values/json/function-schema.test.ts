import { expect, it } from 'vitest';
import { functionSchema } from '../../../../../core/contract/values/json/function-schema.ts';
import type { JsonObject } from '../../../../../core/contract/values/json/json.ts';

it.each<[string, JsonObject, JsonObject]>([
  ['no argument', { type: 'object' }, { type: 'object', properties: {} }],
  ['nothing', {}, { type: 'object', properties: {} }],
  [
    'closed arguments without properties',
    { $schema: 's', type: 'object', additionalProperties: false },
    { type: 'object', properties: {}, $schema: 's', additionalProperties: false },
  ],
  [
    'arrays of anything',
    {
      type: 'object',
      properties: { a: { type: 'array' }, b: { anyOf: [{ type: ['array', 'null'] }, { type: 'string' }] } },
      $defs: { c: { type: 'object', additionalProperties: { type: 'array', description: 'd' } } },
    },
    {
      type: 'object',
      properties: { a: { type: 'array', items: {} }, b: { anyOf: [{ type: ['array', 'null'], items: {} }, { type: 'string' }] } },
      $defs: { c: { type: 'object', additionalProperties: { type: 'array', description: 'd', items: {} } } },
    },
  ],
])('the schema of a function with %s names its properties and items', (_, schema, expected) => {
  const before = structuredClone(schema);
  expect(functionSchema(schema)).toEqual(expected);
  expect(schema).toEqual(before);
});

it('the schema of a function that names its properties and items is the same object', () => {
  const tuple = { type: 'array', prefixItems: [{ type: 'string' }] };
  const schema = { type: 'object', properties: { items: { type: 'string' }, a: { type: 'array', items: {} }, tuple } };
  expect(functionSchema(schema)).toBe(schema);
});

// Milliseconds, which were more than a minute.
it('the schema of a function with many arrays takes linear time', { timeout: 20_000 }, () => {
  const arrays = (items: object): JsonObject =>
    Object.fromEntries(Array.from({ length: 16_000 }, (_, i) => [`a${i}`, { type: 'array', ...items }]));
  const { properties } = functionSchema({ type: 'object', properties: arrays({}) });
  expect(properties).toEqual(arrays({ items: {} }));
});

it('the schema of a function keeps a property with the name of a prototype', () => {
  const properties = JSON.parse('{"__proto__":{"type":"array"}}') as JsonObject;
  const made = functionSchema({ type: 'object', properties });
  expect(JSON.stringify(made)).toBe('{"type":"object","properties":{"__proto__":{"type":"array","items":{}}}}');
});
