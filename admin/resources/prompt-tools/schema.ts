import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { bothEnvelopes, listOf, nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import { idOrSlug, name, pageEntries, tenantEntries, text, unchanged } from '../../http/request/schemas.ts';

const definition = v.record(v.string(), v.unknown(), 'the definition of a tool is expected, as in the field tools of requests');
const description = v.nullish(text);

export const createBody = v.strictObject({
  ...tenantEntries,
  collection_id: v.optional(idOrSlug),
  name,
  tool_def: definition,
  version_description: description,
});

export const updateBody = v.strictObject({
  ...tenantEntries,
  slug: unchanged,
  name: v.optional(name),
  tool_def: v.optional(definition),
  status: v.optional(oneOf(['active', 'archived'])),
  version_description: description,
});

export const publishBody = v.strictObject({
  ...tenantEntries,
  version: v.pipe(v.number(), v.safeInteger('a version number is expected'), v.minValue(1, 'at least 1')),
});

export type CreateBody = v.InferOutput<typeof createBody>;
export type UpdateBody = v.InferOutput<typeof updateBody>;

export const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries, collection_id: v.optional(idOrSlug) });

const anything = v.record(v.string(), v.unknown());
const status = v.picklist(['active', 'archived']);

const rowEntries = {
  id: uuid,
  collection_id: uuid,
  /** Always null: tools belong to no provider. */
  provider_api_key_id: v.null(),
  slug: v.string(),
  name: v.string(),
  created_at: time,
  last_updated_at: time,
  created_by: uuid,
  status,
  tool_def: anything,
  object: v.literal('tool'),
};

export const listReply = listOf(v.strictObject(rowEntries));

export const createReply = bothEnvelopes({ id: uuid, slug: v.string(), version_id: uuid, object: v.literal('tool') });

export const updateReply = bothEnvelopes({ tool_version_id: uuid, object: v.literal('tool') });

export const readReply = bothEnvelopes({ ...rowEntries, version: v.number(), tool_version_id: uuid });

export const versionsReply = listOf(
  v.strictObject({
    tool_id: uuid,
    tool_version_id: uuid,
    slug: v.string(),
    version: v.number(),
    tool_def: anything,
    description: nullableText,
    created_by: uuid,
    created_at: time,
    tool_version_status: status,
    object: v.literal('tool'),
  }),
);
