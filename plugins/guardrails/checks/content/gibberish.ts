import * as v from 'valibot';
import { after } from '../../../../core/contract/values/maybe.ts';
import { bothSides, type Check, defineCheck, excerpt } from '../check.ts';
import { shareOf } from '../share-of.ts';

/** Limits that separate the texts of the corpus best; see the README here. */
const likelihoodMin = -4.3;
const repetitionMax = 0.55;
const charsMax = 20_000;

/** `svc.gibberish`: the text is written in a language. Texts that are short, or not in Latin script, pass. */
export const gibberish: Check = defineCheck({
  id: 'svc.gibberish',
  sides: bothSides,
  demandsForm: true,
  parameters: v.strictObject({ not: v.optional(v.boolean(), false) }),
  prepare:
    ({ not }, { tasks }) =>
    ({ text, ctx }) =>
      after(tasks.run('rate-gibberish', { text: text.slice(0, charsMax) }, shareOf(ctx)), (analysis) => {
        const { likelihood, repetition } = analysis;
        const isGibberish = likelihood !== null && (likelihood < likelihoodMin || repetition > repetitionMax);
        const verdict = isGibberish === not;
        const fact = isGibberish ? 'The text is gibberish' : 'The text is not gibberish';
        const explanation = not ? `${fact}${isGibberish ? ' as expected.' : ' although it was expected to be.'}` : `${fact}.`;
        return { verdict, data: { verdict, not, explanation, analysis, textExcerpt: excerpt(text) } };
      }),
});
