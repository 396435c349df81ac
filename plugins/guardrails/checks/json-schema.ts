import * as v from 'valibot';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import { messageOf } from '../../../core/contract/values/errors/message-of.ts';
import { after } from '../../../core/contract/values/maybe.ts';
import { type Check, defineCheck } from './check.ts';
import { scan } from './scan.ts';
import { shareOf } from './share-of.ts';

const schemaCharsMax = 16_384;

/** `default.jsonSchema`: checks the JSON of the text against a JSON Schema, draft 2020-12. Patterns in the schema have RE2 syntax. */
export const jsonSchema: Check = defineCheck({
  id: 'default.jsonSchema',
  sides: ['output'],
  demandsForm: true,
  parameters: v.strictObject({
    schema: v.pipe(
      v.record(v.string(), v.unknown()),
      v.check((schema) => JSON.stringify(schema).length <= schemaCharsMax, `expected at most ${schemaCharsMax} characters`),
    ),
    not: v.optional(v.boolean(), false),
  }),
  prepare({ schema, not }, { tasks }) {
    try {
      tasks.run('check-schema', { schema, json: null });
    } catch (thrown) {
      throw new Error(`schema: ${messageOf(thrown)}`);
    }
    const judge = (json: unknown, ctx: RequestContext) => {
      if (json === null) return { verdict: false, data: { explanation: 'No valid JSON found in the response.', not } };
      return after(tasks.run('check-schema', { schema, json: JSON.stringify(json) }, shareOf(ctx)), (errors) => {
        const isValid = errors.length === 0;
        return {
          verdict: isValid !== not,
          data: { matchedJson: json, not, explanation: wordsFor(isValid, not), validationErrors: errors },
        };
      });
    };
    return ({ text, ctx }) => after(scan(tasks, 'json', text, ctx), (json) => judge(json, ctx));
  },
});

function wordsFor(isValid: boolean, not: boolean): string {
  if (isValid)
    return not ? 'JSON matches the schema when it should not.' : 'Successfully validated JSON against the provided schema.';
  return not
    ? 'Successfully validated JSON does not match the schema as expected.'
    : 'Failed to validate JSON against the provided schema.';
}
