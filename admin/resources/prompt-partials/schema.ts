import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { bothEnvelopes, listOf, nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import { idOrSlug, name, pageEntries, queryFlag, slug, tenantEntries, text, unchanged } from '../../http/request/schemas.ts';
import { sharedWithReply } from './share.ts';

/** Maximum length of a partial in characters. */
const charsMax = 262_144;

const string = v.pipe(v.string('a text is expected'), v.maxLength(charsMax, `at most ${charsMax} characters`));
const description = v.nullish(text);

export const createBody = v.strictObject({
  ...tenantEntries,
  name,
  /** Default: made from the name. */
  slug: v.optional(slug),
  string,
  version_description: description,
  collection_id: v.optional(idOrSlug),
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  slug: unchanged,
  name: v.optional(name),
  string: v.optional(string),
  /** Another name of `version_description`. */
  description,
  version_description: description,
  collection_id: v.optional(idOrSlug),
  status: v.optional(oneOf(['active', 'archived'])),
});

export const publishBody = v.strictObject({
  ...tenantEntries,
  version: v.pipe(v.number(), v.safeInteger('a version number is expected'), v.minValue(1, 'at least 1')),
});

export type CreateBody = v.InferOutput<typeof createBody>;
export type UpdateBody = v.InferOutput<typeof updateBody>;

export const listQuery = v.strictObject({
  ...tenantEntries,
  ...pageEntries,
  collection_id: v.optional(idOrSlug),
  search: v.optional(text),
  type: v.optional(oneOf(['shared', 'all'])),
  show_prompt_share: queryFlag,
});

export const readQuery = v.strictObject({ ...tenantEntries, version: v.optional(text) });

const status = v.picklist(['active', 'archived']);

const rowEntries = {
  id: uuid,
  slug: v.string(),
  name: v.string(),
  collection_id: uuid,
  created_at: time,
  last_updated_at: time,
  status,
  object: v.literal('partial'),
};

export const listReply = listOf(
  v.strictObject({
    ...rowEntries,
    prompt_share: v.optional(v.strictObject({ workspace_id: uuid, shared_with: sharedWithReply })),
  }),
);

export const createReply = bothEnvelopes({ id: uuid, slug: v.string(), version_id: uuid, object: v.literal('partial') });

export const updateReply = bothEnvelopes({ id: uuid, slug: v.string(), prompt_partial_version_id: uuid });

export const readReply = bothEnvelopes({
  ...rowEntries,
  string: v.string(),
  version: v.number(),
  version_description: nullableText,
  prompt_partial_version_id: uuid,
  prompt_version_status: status,
});

export const usedByReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  /** Uses in other workspaces that the partial is shared with. */
  total_elsewhere: v.number(),
  data: v.array(
    v.strictObject({
      type: v.picklist(['prompt', 'partial']),
      id: uuid,
      slug: v.string(),
      name: v.string(),
      version: v.number(),
      is_published: v.boolean(),
      reference: v.string(),
      via: v.array(v.string()),
    }),
  ),
});

export const versionsReply = listOf(
  v.strictObject({
    prompt_partial_id: uuid,
    prompt_partial_version_id: uuid,
    slug: v.string(),
    version: v.number(),
    string: v.string(),
    description: nullableText,
    /** Author of the version. */
    owner_id: uuid,
    created_at: time,
    prompt_version_status: status,
    object: v.literal('partial'),
  }),
);
