import * as v from 'valibot';
import { after } from '../../../core/contract/values/maybe.ts';
import { bothSides, type Check, defineCheck, excerpt } from './check.ts';
import { scan } from './scan.ts';

/** `default.alluppercase` */
export const allUppercase: Check = letterCase('default.alluppercase', 'uppercase', 'lowercase', 'has-lower-case');
/** `default.alllowercase` */
export const allLowercase: Check = letterCase('default.alllowercase', 'lowercase', 'uppercase', 'has-upper-case');

/** Compares letters only; text without letters passes. */
function letterCase(id: string, wanted: string, other: string, others: 'has-lower-case' | 'has-upper-case'): Check {
  return defineCheck({
    id,
    sides: bothSides,
    demandsForm: true,
    parameters: v.strictObject({ not: v.optional(v.boolean(), false) }),
    prepare({ not }, { tasks }) {
      const conclude = (isAll: boolean, text: string) => {
        const verdict = isAll !== not;
        const fact = isAll ? `All alphabetic characters in the text are ${wanted}` : `The text contains ${other} characters`;
        const ending = !not ? '.' : isAll ? ' when they should not be.' : ' as expected.';
        return { verdict, data: { verdict, not, explanation: `${fact}${ending}`, textExcerpt: excerpt(text) } };
      };
      return ({ text, ctx }) => after(scan(tasks, others, text, ctx), (hasOthers) => conclude(!hasOthers, text));
    },
  });
}
