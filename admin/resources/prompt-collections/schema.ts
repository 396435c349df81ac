import * as v from 'valibot';
import { bit, bothEnvelopes, nullableTime, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import { idOrSlug, name, pageEntries, queryFlag, tenantEntries, text, unchanged } from '../../http/request/schemas.ts';

export const createBody = v.strictObject({ ...tenantEntries, name, parent_collection_id: v.nullish(idOrSlug) });

export const updateBody = v.strictObject({
  ...tenantEntries,
  slug: unchanged,
  name: v.optional(name),
  parent_collection_id: v.optional(v.nullable(idOrSlug)),
});

export const listQuery = v.strictObject({ ...tenantEntries, ...pageEntries, search: v.optional(text) });

export const deleteQuery = v.strictObject({ ...tenantEntries, cascade: queryFlag });

const details = v.strictObject({
  child_collections_count: v.number(),
  prompts_count: v.number(),
  child_collections_last_updated_at: nullableTime,
  prompts_last_updated_at: nullableTime,
});

const rowEntries = {
  id: uuid,
  name: v.string(),
  workspace_id: uuid,
  slug: v.string(),
  parent_collection_id: nullableUuid,
  is_default: bit,
  status: v.picklist(['active', 'archived']),
  created_at: time,
  last_updated_at: time,
};

export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(v.strictObject({ ...rowEntries, collection_details: details })),
});

export const receiptReply = bothEnvelopes({ id: uuid, slug: v.string(), object: v.literal('collection') });

const child = v.strictObject({ id: uuid, name: v.string(), last_updated_at: time, collection_details: details });

export const readReply = bothEnvelopes({ ...rowEntries, child_collections: v.array(child), object: v.literal('collection') });
