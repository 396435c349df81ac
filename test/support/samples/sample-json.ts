/**
 * A value that fits a JSON Schema of the kind used for tools and structured replies: every declared property is there, enums
 * take their first member, strings are `sample`, numbers 1. Enough for clients that validate arguments.
 */
// biome-ignore lint/suspicious/noExplicitAny: schemas come from whatever client is under test
export function sampleJson(schema: any): unknown {
  if (typeof schema !== 'object' || schema === null) return {};
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const choice = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (Array.isArray(choice)) return sampleJson(choice[0]);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'string') return 'sample';
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 1;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (type === 'array') return [sampleJson(schema.items)];
  const properties = Object.entries(schema.properties ?? {});
  return Object.fromEntries(properties.map(([name, inner]) => [name, sampleJson(inner)]));
}
