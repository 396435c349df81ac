import * as v from 'valibot';
import { isObject } from '../../../core/contract/values/json/json.ts';
import { after } from '../../../core/contract/values/maybe.ts';
import { type Check, defineCheck, excerpt } from './check.ts';
import { scan } from './scan.ts';

/** `default.jsonKeys`: looks for keys at the top level of the JSON of the text. */
export const jsonKeys: Check = defineCheck({
  id: 'default.jsonKeys',
  sides: ['output'],
  demandsForm: true,
  parameters: v.strictObject({
    keys: v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1), v.maxLength(1000)),
    operator: v.optional(v.picklist(['any', 'all', 'none']), 'any'),
  }),
  prepare({ keys, operator }, { tasks }) {
    const conclude = (found: unknown, text: string) => {
      const json = isObject(found) ? found : {};
      const presentKeys = keys.filter((key) => Object.hasOwn(json, key));
      const missingKeys = keys.filter((key) => !Object.hasOwn(json, key));
      const verdict =
        operator === 'any' ? presentKeys.length > 0 : operator === 'all' ? missingKeys.length === 0 : presentKeys.length === 0;
      const lists = { present: presentKeys.join(', '), missing: missingKeys.join(', ') };
      const matchedJson = presentKeys.length > 0 || verdict ? found : null;
      const explanation = explain(operator, verdict, lists);
      return {
        verdict,
        data: { matchedJson, verdict, explanation, presentKeys, missingKeys, operator, textExcerpt: excerpt(text) },
      };
    };
    return ({ text, ctx }) => after(scan(tasks, 'json', text, ctx), (found) => conclude(found, text));
  },
});

function explain(
  operator: 'any' | 'all' | 'none',
  verdict: boolean,
  { present, missing }: { present: string; missing: string },
): string {
  if (operator === 'none') {
    return verdict
      ? `Successfully verified no required keys are present. Missing keys: [${missing}].`
      : `Found some keys that should not be present. Found keys: [${present}].`;
  }
  const what = operator === 'any' ? 'at least one required key' : 'all required keys';
  if (verdict) return `Successfully found ${what}. Found keys: [${present}].`;
  return `Failed to find ${operator === 'any' ? 'any' : 'all'} required keys. Missing keys: [${missing}].`;
}
