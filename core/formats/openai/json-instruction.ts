import { isObject } from '../../contract/values/json/json.ts';

/**
 * Returns an instruction in place of `response_format`, with its schema, for providers that reject the form of the reply beside tools.
 * Null if the format is not JSON.
 */
export function jsonInstruction(format: unknown): string | null {
  if (!isObject(format) || (format.type !== 'json_object' && format.type !== 'json_schema')) return null;
  const schema = isObject(format.json_schema) ? format.json_schema.schema : undefined;
  const rule = isObject(schema) ? ` It must be valid under this JSON schema: ${JSON.stringify(schema)}` : '';
  return `Unless you call a function, answer with one valid JSON value and nothing else: no introduction, no code fence.${rule}`;
}
