import * as v from 'valibot';
import { after } from '../../../core/contract/values/maybe.ts';
import { bothSides, type Check, defineCheck, excerpt } from './check.ts';
import { scan } from './scan.ts';

const bound = (fallback: number) => v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), fallback);

/** `default.sentenceCount`: counts the characters that end sentences. */
export const sentenceCount: Check = defineCheck({
  id: 'default.sentenceCount',
  sides: bothSides,
  demandsForm: true,
  parameters: v.strictObject({ minSentences: bound(0), maxSentences: bound(99_999), not: v.optional(v.boolean(), false) }),
  prepare({ minSentences: min, maxSentences: max, not }, { tasks }) {
    const conclude = (count: number, text: string) => {
      const inside = count >= min && count <= max;
      const explanation = `The sentence count (${count}) is ${inside ? 'within' : 'outside'} the specified range of ${min} to ${max}${ending(inside, not)}`;
      const verdict = inside !== not;
      return {
        verdict,
        data: { sentenceCount: count, minCount: min, maxCount: max, not, verdict, explanation, textExcerpt: excerpt(text) },
      };
    };
    return ({ text, ctx }) => after(scan(tasks, 'sentences', text, ctx), (count) => conclude(count, text));
  },
});

/** `default.wordCount`: counts what white space separates. */
export const wordCount: Check = defineCheck({
  id: 'default.wordCount',
  sides: bothSides,
  demandsForm: true,
  parameters: v.strictObject({ minWords: bound(0), maxWords: bound(99_999), not: v.optional(v.boolean(), false) }),
  prepare({ minWords, maxWords, not }, { tasks }) {
    const conclude = (count: number, text: string) => {
      const inside = count >= minWords && count <= maxWords;
      const verdict = inside !== not;
      const explanation = rangeText(count, 'words', minWords, maxWords, inside, not);
      return { verdict, data: { wordCount: count, minWords, maxWords, not, verdict, explanation, textExcerpt: excerpt(text) } };
    };
    return ({ text, ctx }) => after(scan(tasks, 'words', text, ctx), (count) => conclude(count, text.trim()));
  },
});

/** `default.characterCount`: counts UTF-16 code units. */
export const characterCount: Check = defineCheck({
  id: 'default.characterCount',
  sides: bothSides,
  demandsForm: true,
  parameters: v.strictObject({ minCharacters: bound(0), maxCharacters: bound(9_999_999), not: v.optional(v.boolean(), false) }),
  prepare:
    ({ minCharacters, maxCharacters, not }) =>
    ({ text }) => {
      const count = text.length;
      const inside = count >= minCharacters && count <= maxCharacters;
      const verdict = inside !== not;
      const explanation = rangeText(count, 'characters', minCharacters, maxCharacters, inside, not);
      return {
        verdict,
        data: { characterCount: count, minCharacters, maxCharacters, not, verdict, explanation, textExcerpt: excerpt(text) },
      };
    },
});

function rangeText(count: number, unit: string, min: number, max: number, inside: boolean, not: boolean): string {
  const place = inside ? 'within' : 'outside';
  return `The text contains ${count} ${unit}, which is ${place} the specified range of ${min}-${max} ${unit}${ending(inside, not)}`;
}

function ending(inside: boolean, not: boolean): string {
  if (!not) return '.';
  return inside ? ' when it should not be.' : ' as expected.';
}
