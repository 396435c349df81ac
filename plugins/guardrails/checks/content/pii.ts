import * as v from 'valibot';
import { type PiiCategory, piiCategories } from '../../../../core/contract/plugin/pii-categories.ts';
import type { Finding } from '../../../../core/contract/plugin/worker-tasks.ts';
import { after } from '../../maybe.ts';
import { withTexts } from '../../texts.ts';
import { bothSides, type Check, defineCheck, excerpt, type Outcome, type Subject } from '../check.ts';
import { Placeholders, rememberedOf, replaceFindings } from './placeholders.ts';

const parameters = v.strictObject({
  categories: v.optional(v.pipe(v.array(v.picklist(piiCategories)), v.minLength(1)), [...piiCategories]),
  redact: v.optional(v.boolean(), false),
  restore: v.optional(v.boolean(), false),
  not: v.optional(v.boolean(), false),
});
type Parameters = v.InferOutput<typeof parameters>;

/**
 * `svc.pii`: finds personal data. With `redact` placeholders take its place and the check passes. With `restore` the originals are remembered,
 * and `svc.restorePii` puts them back into the response.
 */
export const pii: Check = defineCheck({
  id: 'svc.pii',
  sides: bothSides,
  changes: ({ redact }) => redact,
  parameters,
  prepare(given, { tasks }) {
    if (given.redact && given.not) throw new Error('not: contradicts redact');
    if (given.restore && !given.redact) throw new Error('restore: requires redact');
    return (subject) => {
      const texts = subject.parts.map(({ text }) => text);
      const found = tasks.run('find-pii', { texts, categories: given.categories });
      return after(found, (findings) => conclude(given, subject, texts, findings));
    };
  },
});

const shownMax = 100;

function conclude(
  given: Parameters,
  subject: Subject,
  texts: readonly string[],
  findings: readonly Finding<PiiCategory>[],
): Outcome {
  const { redact, restore, not, categories } = given;
  const placeholders = restore && subject.side === 'input' ? rememberedOf(subject.ctx) : new Placeholders();
  const redacted = replaceFindings(texts, findings, (finding) => placeholders.of(finding, texts));
  const detected = [...new Set(findings.map(({ kind }) => kind))];
  const isFound = detected.length > 0;
  const isRedacted = redact && isFound;
  const verdict = isRedacted || isFound === not;
  const data = {
    verdict,
    not,
    explanation: explain(detected, not, isRedacted),
    // Results show placeholders: they can reach people who may not see the data.
    detectedPII: findings
      .slice(0, shownMax)
      .map((finding) => ({ text: placeholders.of(finding, texts), labels: { [finding.kind]: 1 } })),
    restrictedCategories: categories,
    detectedCategories: detected,
    textExcerpt: excerpt(redacted.join('\n')),
  };
  return isRedacted ? { verdict, data, body: withTexts(subject.body, subject.parts, redacted) } : { verdict, data };
}

function explain(detected: readonly string[], not: boolean, isRedacted: boolean): string {
  const list = detected.join(', ');
  if (isRedacted) return `Personal data was redacted: ${list}`;
  if (detected.length > 0) return not ? `Personal data was found as expected: ${list}` : `Personal data was found: ${list}`;
  return not ? 'No personal data was found although it was expected.' : 'No personal data was found.';
}
