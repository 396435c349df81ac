import * as v from 'valibot';
import { bothSides, type Check, defineCheck } from './check.ts';

const reasons = {
  any: { true: 'At least one word was found.', false: 'No words were found.' },
  all: { true: 'All words were found.', false: 'Some words were missing.' },
  none: { true: 'No words were found.', false: 'Some words were found.' },
} as const;

/** `default.contains`: looks for words as they are written, also inside of other words. */
export const contains: Check = defineCheck({
  id: 'default.contains',
  sides: bothSides,
  parameters: v.strictObject({
    words: v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1), v.maxLength(1000)),
    operator: v.optional(v.picklist(['any', 'all', 'none']), 'any'),
  }),
  prepare:
    ({ words, operator }) =>
    ({ text }) => {
      const foundWords = words.filter((word) => text.includes(word));
      const missingWords = words.filter((word) => !text.includes(word));
      const verdict =
        operator === 'any' ? foundWords.length > 0 : operator === 'all' ? missingWords.length === 0 : foundWords.length === 0;
      const explanation = `Check ${verdict ? 'passed' : 'failed'} for '${operator}' words. ${reasons[operator][`${verdict}`]}`;
      return { verdict, data: { explanation, foundWords, missingWords, operator } };
    },
});
