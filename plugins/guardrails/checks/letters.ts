import * as v from 'valibot';
import { bothSides, type Check, defineCheck, excerpt } from './check.ts';

/** `default.alluppercase` */
export const allUppercase: Check = letterCase('default.alluppercase', 'uppercase', 'lowercase', /\p{Ll}/u);
/** `default.alllowercase` */
export const allLowercase: Check = letterCase('default.alllowercase', 'lowercase', 'uppercase', /\p{Lu}/u);

/** Compares letters only; text without letters passes. */
function letterCase(id: string, wanted: string, other: string, others: RegExp): Check {
  return defineCheck({
    id,
    sides: bothSides,
    parameters: v.strictObject({ not: v.optional(v.boolean(), false) }),
    prepare:
      ({ not }) =>
      ({ text }) => {
        const isAll = !others.test(text);
        const verdict = isAll !== not;
        const fact = isAll ? `All alphabetic characters in the text are ${wanted}` : `The text contains ${other} characters`;
        const ending = !not ? '.' : isAll ? ' when they should not be.' : ' as expected.';
        return { verdict, data: { verdict, not, explanation: `${fact}${ending}`, textExcerpt: excerpt(text) } };
      },
  });
}
