import * as v from 'valibot';
import type { RequestContext } from '../../../core/contract/plugin/context.ts';
import type { PatternOutput } from '../../../core/contract/plugin/services/worker-tasks.ts';
import { after } from '../../../core/contract/values/maybe.ts';
import type { TextPart } from '../every-text.ts';
import { bothSides, type Check, defineCheck, excerpt, noText } from './check.ts';
import { patternWindow, preparePattern, rule } from './pattern.ts';
import { shareOf } from './share-of.ts';

/** `default.regexMatch`: searches the text for a pattern. */
export const regexMatch: Check = defineCheck({
  id: 'default.regexMatch',
  sides: bothSides,
  demandsForm: ({ not }) => !not,
  parameters: v.strictObject({ rule, not: v.optional(v.boolean(), false), normalize: v.optional(v.boolean(), false) }),
  prepare({ rule, not, normalize: isNormalized }, { tasks }) {
    preparePattern(tasks, rule, '');
    const conclude = (text: string, { match }: PatternOutput) => {
      const verdict = (match !== null) !== not;
      return {
        verdict,
        data: {
          regexPattern: rule,
          not,
          verdict,
          explanation: `The regex pattern '${rule}' ${wordsFor(match !== null, not)}`,
          matchDetails: match && {
            matchedText: match.text,
            index: match.index,
            groups: match.groups,
            captures: match.captures,
          },
          textExcerpt: excerpt(text),
        },
      };
    };
    const match = (text: string, ctx: RequestContext) => {
      if (text === '') return noText('Missing text to match', 'the regex', { regexPattern: rule, not });
      const input = { pattern: rule, flags: '', texts: [text], replacement: null };
      return after(tasks.run('match-pattern', input, shareOf(ctx)), (output) => conclude(text, output));
    };
    const normalized = (parts: readonly TextPart[], text: string, ctx: RequestContext) => {
      if (!isNormalized) return match(text, ctx);
      const texts = parts.map((part) => part.text);
      return after(tasks.run('normalize', { texts }, shareOf(ctx)), (plain) => match(plain, ctx));
    };
    return ({ text, parts, ctx }) => {
      const others = not ? parts.filter(({ kind }) => kind !== undefined) : [];
      if (others.length === 0) return normalized(parts, text, ctx);
      const texts = parts.filter(({ kind }) => kind === undefined);
      const joined = others.map((part) => part.text).join('\n');
      if (text === '') return normalized(others, joined, ctx);
      return after(normalized(texts, text, ctx), (outcome) => (outcome.verdict ? normalized(others, joined, ctx) : outcome));
    };
  },
  prepareWindow({ rule, not, normalize: isNormalized }, { tasks }) {
    if (!not) return 'without `not` the pattern must be found, which only the whole text shows';
    if (isNormalized) return 'with `normalize` the length of a match has no bound';
    return patternWindow(tasks, { pattern: rule, flags: '', replacement: null, fails: true, isOnce: false });
  },
});

function wordsFor(isMatch: boolean, not: boolean): string {
  if (isMatch) return not ? 'matched the text when it should not have.' : 'successfully matched the text.';
  return not ? 'did not match the text as expected.' : 'did not match the text.';
}
