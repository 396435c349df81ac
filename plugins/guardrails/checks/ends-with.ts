import * as v from 'valibot';
import { bothSides, type Check, defineCheck, excerpt } from './check.ts';

/** `default.endsWith`: a full stop behind the suffix is allowed. */
export const endsWith: Check = defineCheck({
  id: 'default.endsWith',
  sides: bothSides,
  demandsForm: true,
  parameters: v.strictObject({ suffix: v.pipe(v.string(), v.minLength(1)), not: v.optional(v.boolean(), false) }),
  prepare:
    ({ suffix, not }) =>
    ({ text }) => {
      const isExact = text.endsWith(suffix);
      const ends = isExact || text.endsWith(`${suffix}.`);
      const verdict = ends !== not;
      const fact = ends
        ? `The text ends with "${suffix}"${isExact ? '' : ' (including trailing period)'}`
        : `The text does not end with "${suffix}"`;
      const ending = !not ? '.' : ends ? ' when it should not.' : ' as expected.';
      return { verdict, data: { suffix, not, verdict, explanation: `${fact}${ending}`, textExcerpt: excerpt(text) } };
    },
});
