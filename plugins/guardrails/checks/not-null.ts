import * as v from 'valibot';
import { isObject, type JsonObject, objectsIn } from '../../../core/contract/values/json/json.ts';
import { type Check, defineCheck } from './check.ts';

/** `default.notNull`: the reply has text. Replies that call tools pass without text. */
export const notNull: Check = defineCheck({
  id: 'default.notNull',
  sides: ['output'],
  demandsForm: true,
  parameters: v.strictObject({ not: v.optional(v.boolean(), false) }),
  prepare:
    ({ not }) =>
    ({ text, parts, body }) => {
      if (callsTools(body)) return { verdict: true, data: { explanation: 'Skipped because the response calls tools.' } };
      const isNull = text.trim() === '';
      const verdict = isNull === not;
      return {
        verdict,
        data: {
          isNull,
          contentType: 'string',
          textArrayLength: Math.max(1, parts.length),
          explanation: isNull ? 'Content is null, undefined, or empty.' : 'Content exists and is not null.',
          verdict: verdict ? 'passed' : 'failed',
        },
      };
    },
});

function callsTools(body: JsonObject): boolean {
  return (
    objectsIn(body.choices).some(
      ({ message }) => isObject(message) && message.tool_calls !== undefined && message.tool_calls !== null,
    ) ||
    objectsIn(body.content).some(({ type }) => type === 'tool_use') ||
    objectsIn(body.output).some(({ type }) => type === 'function_call' || type === 'custom_tool_call')
  );
}
