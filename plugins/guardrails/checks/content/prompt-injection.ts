import * as v from 'valibot';
import { after } from '../../../../core/contract/values/maybe.ts';
import { bothSides, type Check, defineCheck, excerpt } from '../check.ts';
import { shareOf } from '../share-of.ts';

/** `svc.promptInjection`: the signs of prompt injection in the text score less than the threshold. */
export const promptInjection: Check = defineCheck({
  id: 'svc.promptInjection',
  sides: bothSides,
  parameters: v.strictObject({
    threshold: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(1)), 0.5),
    not: v.optional(v.boolean(), false),
  }),
  prepare:
    ({ threshold, not }, { tasks }) =>
    ({ text, parts, ctx }) =>
      after(tasks.run('score-injection', { texts: parts.map((part) => part.text) }, shareOf(ctx)), ({ score, signals }) => {
        const isFound = score >= threshold;
        const verdict = isFound === not;
        const signs = signals.length === 0 ? '' : `: ${signals.join(', ')}`;
        const explanation = `The text scores ${score} of 1 for prompt injection${signs}. The threshold is ${threshold}.`;
        return { verdict, data: { verdict, not, explanation, score, threshold, signals, textExcerpt: excerpt(text) } };
      }),
});
