import * as v from 'valibot';
import { nullableText } from '../../http/reply/reply-schemas.ts';
import { tenantEntries } from '../../http/request/schemas.ts';

const skillId = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(255, 'at most 255 characters'));

export const skillsBody = v.strictObject({
  ...tenantEntries,
  skills: v.pipe(
    v.array(v.strictObject({ id: skillId, enabled: v.boolean() })),
    v.minLength(1, 'at least one skill is expected'),
    v.maxLength(1_000, 'at most 1,000 skills at once'),
  ),
});
export type SentSkills = v.InferOutput<typeof skillsBody>['skills'];

const texts = v.array(v.string());

export const skillsReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(
    v.strictObject({
      id: v.string(),
      name: nullableText,
      description: nullableText,
      tags: texts,
      examples: texts,
      input_modes: texts,
      output_modes: texts,
      enabled: v.boolean(),
      /** Only on servers: the flag of the integration. */
      integration_enabled: v.optional(v.boolean()),
    }),
  ),
});
