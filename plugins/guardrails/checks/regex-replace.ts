import * as v from 'valibot';
import { after } from '../../../core/contract/values/maybe.ts';
import { withTexts } from '../with-texts.ts';
import { bothSides, type Check, defineCheck } from './check.ts';
import { patternWindow, preparePattern, rule } from './pattern.ts';
import { shareOf } from './share-of.ts';

/** `default.regexReplace`: replaces the first match of each text, with the flag `g` all matches. */
export const regexReplace: Check = defineCheck({
  id: 'default.regexReplace',
  sides: bothSides,
  changes: true,
  parameters: v.strictObject({
    rule,
    redactText: v.optional(v.pipe(v.string(), v.maxLength(1000)), '[REDACTED]'),
    failOnDetection: v.optional(v.boolean(), false),
  }),
  prepare({ rule, redactText, failOnDetection }, { tasks }) {
    const { pattern, flags } = parseRule(rule);
    preparePattern(tasks, pattern, flags);
    return ({ body, parts, ctx }) => {
      const input = { pattern, flags, texts: parts.map(({ text }) => text), replacement: redactText };
      return after(tasks.run('match-pattern', input, shareOf(ctx)), ({ replaced }) => {
        if (replaced === null) {
          return {
            verdict: true,
            data: { regexPattern: rule, verdict: true, explanation: `The regex pattern '${rule}' did not match any text.` },
          };
        }
        const verdict = !failOnDetection;
        const explanation = `Pattern '${rule}' matched and was replaced with '${redactText}'`;
        return { verdict, data: { regexPattern: rule, verdict, explanation }, body: withTexts(body, parts, replaced) };
      });
    };
  },
  prepareWindow({ rule, redactText, failOnDetection }, { tasks }) {
    const { pattern, flags } = parseRule(rule);
    const isOnce = !flags.includes('g');
    return patternWindow(tasks, { pattern, flags, replacement: redactText, fails: failOnDetection, isOnce });
  },
});

/** Reads `/pattern/flags` or a plain pattern. Throws an Error for flags that RE2 does not have. */
function parseRule(rule: string): { pattern: string; flags: string } {
  const [, pattern, flags] = /^\/(.+)\/([a-z]*)$/s.exec(rule) ?? [];
  if (pattern === undefined || flags === undefined) return { pattern: rule, flags: '' };
  const unknown = [...flags].find((flag) => !'gimsud'.includes(flag));
  if (unknown !== undefined) throw new Error(`rule: the flag ${unknown} is not supported; expected some of g, i, m, s`);
  return { pattern, flags };
}
