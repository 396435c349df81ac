import * as v from 'valibot';
import { isObject, objectsIn } from '../../../../core/contract/values/json/json.ts';
import { bothSides, type Check, defineCheck, excerpt, noText } from '../check.ts';
import { askProvider, providerCall } from './ask-provider.ts';

const categories = [
  ...[
    'hate',
    'hate/threatening',
    'harassment',
    'harassment/threatening',
    'self-harm',
    'self-harm/intent',
    'self-harm/instructions',
  ],
  ...['sexual', 'sexual/minors', 'violence', 'violence/graphic', 'illicit', 'illicit/violent'],
] as const;

/** `svc.moderateContent`: the moderation endpoint of a stored provider reports none of the categories. */
export const moderateContent: Check = defineCheck({
  id: 'svc.moderateContent',
  sides: bothSides,
  parameters: v.strictObject({
    ...providerCall('omni-moderation-latest'),
    categories: v.optional(v.pipe(v.array(v.picklist(categories)), v.minLength(1)), [...categories]),
    not: v.optional(v.boolean(), false),
  }),
  prepare(given, services) {
    const { categories: wanted, not } = given;
    return async (subject) => {
      const texts = subject.parts.map(({ text }) => text);
      if (texts.length === 0) return noText('There is no text', 'content moderation', { not, restrictedCategories: wanted });
      const asked = await askProvider(services, subject, given, 'moderate', { input: texts });
      if ('failed' in asked) return asked.failed;
      const results = objectsIn(asked.reply.results);
      if (results.length === 0 || results.some((result) => !isObject(result.categories))) return asked.unreadable();
      const flagged = [...new Set(results.flatMap((result) => trueKeys(result.categories)))];
      const flaggedCategories = flagged.filter((category) => (wanted as readonly string[]).includes(category));
      const isFound = flaggedCategories.length > 0;
      const verdict = isFound === not;
      const data = {
        verdict,
        not,
        explanation: isFound ? `Restricted categories: ${flaggedCategories.join(', ')}` : 'No restricted categories.',
        flaggedCategories,
        restrictedCategories: wanted,
        allFlaggedCategories: flagged,
        textExcerpt: excerpt(subject.text),
      };
      return { verdict, data };
    };
  },
});

function trueKeys(value: unknown): string[] {
  return isObject(value) ? Object.keys(value).filter((key) => value[key] === true) : [];
}
