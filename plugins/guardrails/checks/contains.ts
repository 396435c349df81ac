import * as v from 'valibot';
import { after } from '../../../core/contract/values/maybe.ts';
import type { Finding } from '../window/search.ts';
import { bothSides, type Check, defineCheck } from './check.ts';
import { shareOf } from './share-of.ts';

const reasons = {
  any: { true: 'At least one word was found.', false: 'No words were found.' },
  all: { true: 'All words were found.', false: 'Some words were missing.' },
  none: { true: 'No words were found.', false: 'Some words were found.' },
} as const;

/** `default.contains`: looks for words, also inside of other words: as they are written, or with `normalize` in any disguise. */
export const contains: Check = defineCheck({
  id: 'default.contains',
  sides: bothSides,
  demandsForm: ({ operator }) => operator !== 'none',
  parameters: v.strictObject({
    words: v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1), v.maxLength(1000)),
    operator: v.optional(v.picklist(['any', 'all', 'none']), 'any'),
    normalize: v.optional(v.boolean(), false),
  }),
  prepare({ words, operator, normalize: isNormalized }, { tasks }) {
    const outcomeOf = (foundWords: readonly string[]) => {
      const missingWords = words.filter((word) => !foundWords.includes(word));
      const verdict =
        operator === 'any' ? foundWords.length > 0 : operator === 'all' ? missingWords.length === 0 : foundWords.length === 0;
      const explanation = `Check ${verdict ? 'passed' : 'failed'} for '${operator}' words. ${reasons[operator][`${verdict}`]}`;
      return { verdict, data: Object.freeze({ explanation, foundWords, missingWords, operator }) };
    };
    const nothing = outcomeOf([]);
    const conclude = (foundWords: readonly string[]) => (foundWords.length === 0 ? nothing : outcomeOf(foundWords));
    return ({ parts, ctx }) => {
      // A name or a number cannot be one of the words that must be there.
      const read = operator === 'none' ? parts : parts.filter(({ kind }) => kind === undefined);
      return after(tasks.run('find-words', { texts: read.map(({ text }) => text), words, isNormalized }, shareOf(ctx)), conclude);
    };
  },
  prepareWindow({ words, operator, normalize: isNormalized }) {
    if (operator !== 'none') return `with the operator ${operator} words must be found, which only the whole text shows`;
    if (isNormalized) return 'with `normalize` the length of a disguised word has no bound';
    return {
      reach: Math.max(...words.map((word) => word.length)),
      fails: true,
      isOnce: false,
      find(text, from) {
        let first: Finding | null = null;
        for (const word of words) {
          const start = text.indexOf(word, from);
          if (start >= 0 && (first === null || start < first.start))
            first = { start, end: start + word.length, replacement: null };
        }
        return first;
      },
    };
  },
});
