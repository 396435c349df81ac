import * as v from 'valibot';
import { after } from '../../../../core/contract/values/maybe.ts';
import { bothSides, type Check, defineCheck } from '../check.ts';
import { shareOf } from '../share-of.ts';
import { concludeFindings } from './findings.ts';

/** `svc.secrets`: finds keys, tokens and passwords. With `redact` placeholders take their place and the check passes. */
export const secrets: Check = defineCheck({
  id: 'svc.secrets',
  sides: bothSides,
  changes: ({ redact }) => redact,
  redacts: ({ redact }) => redact,
  parameters: v.strictObject({ redact: v.optional(v.boolean(), false), not: v.optional(v.boolean(), false) }),
  prepare({ redact, not }, { tasks }) {
    if (redact && not) throw new Error('not: contradicts redact');
    const rules = { noun: 'Secrets', not, member: 'detectedSecrets', more: {} };
    return (subject) => {
      const texts = subject.parts.map(({ text }) => text);
      const found = tasks.run('find-secrets', { texts, redact, known: null }, shareOf(subject.ctx));
      return after(found, (result) => concludeFindings(subject, result, rules));
    };
  },
});
