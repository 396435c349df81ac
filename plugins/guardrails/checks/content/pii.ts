import * as v from 'valibot';
import { piiCategories } from '../../../../core/contract/plugin/guardrails/pii-categories.ts';
import { after } from '../../../../core/contract/values/maybe.ts';
import { bothSides, type Check, defineCheck } from '../check.ts';
import { shareOf } from '../share-of.ts';
import { concludeFindings } from './findings.ts';
import { rememberedOf } from './placeholders.ts';

/**
 * `svc.pii`: finds personal data. With `redact` placeholders take its place and the check passes. With `restore` the originals are remembered,
 * and `svc.restorePii` puts them back into the response.
 */
export const pii: Check = defineCheck({
  id: 'svc.pii',
  sides: bothSides,
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  parameters: v.strictObject({
    categories: v.optional(v.pipe(v.array(v.picklist(piiCategories)), v.minLength(1)), [...piiCategories]),
    redact: v.optional(v.boolean(), false),
    restore: v.optional(v.boolean(), false),
    not: v.optional(v.boolean(), false),
  }),
  prepare({ categories, redact, restore, not }, { tasks }) {
    if (redact && not) throw new Error('not: contradicts redact');
    if (restore && !redact) throw new Error('restore: requires redact');
    const rules = { noun: 'Personal data', not, member: 'detectedPII', more: { restrictedCategories: categories } };
    return (subject) => {
      const placeholders = restore && subject.side === 'input' ? rememberedOf(subject.ctx) : null;
      const texts = subject.parts.map(({ text }) => text);
      const share = shareOf(subject.ctx);
      const input = { texts, categories, redact, known: placeholders && [...placeholders], owner: share.owner };
      return after(tasks.run('find-pii', input, share), (found) => {
        for (const [placeholder, value] of found.added) placeholders?.set(placeholder, value);
        return concludeFindings(subject, found, rules);
      });
    };
  },
});
