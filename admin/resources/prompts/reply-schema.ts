import * as v from 'valibot';
import {
  bit,
  bothEnvelopes,
  listOf,
  nullableText,
  nullableTime,
  nullableUuid,
  time,
  uuid,
} from '../../http/reply/reply-schemas.ts';
import { sharedWithReply } from '../prompt-partials/share.ts';

const anything = v.record(v.string(), v.unknown());
const status = v.picklist(['active', 'archived']);

const rowEntries = {
  id: uuid,
  slug: v.string(),
  name: v.string(),
  collection_id: uuid,
  model: nullableText,
  status,
  created_at: time,
  last_updated_at: time,
  object: v.literal('prompt'),
};

export const listReply = v.strictObject({
  success: v.literal(true),
  object: v.literal('list'),
  total: v.number(),
  data: v.array(
    v.strictObject({
      ...rowEntries,
      /** With `return_last_used=true`, for prompts of the workspace: the last request with the prompt. */
      last_used_at: v.optional(nullableTime),
      prompt_share: v.optional(v.strictObject({ workspace_id: uuid, shared_with: sharedWithReply })),
    }),
  ),
});

export const createReply = bothEnvelopes({ id: uuid, slug: v.string(), version_id: uuid, object: v.literal('prompt') });

export const updateReply = bothEnvelopes({ id: uuid, slug: v.string(), prompt_version_id: uuid });

/** Content of a version. */
const contentEntries = {
  string: v.string(),
  parameters: anything,
  model: nullableText,
  virtual_key: nullableText,
  functions: v.array(anything),
  tools: v.array(anything),
  tool_choice: v.nullable(v.union([anything, v.string()])),
  template_metadata: v.nullable(anything),
  is_raw_template: bit,
};

export const readReply = bothEnvelopes({
  id: uuid,
  slug: v.string(),
  name: v.string(),
  collection_id: uuid,
  ...contentEntries,
  prompt_version: v.number(),
  prompt_version_id: uuid,
  prompt_version_status: status,
  prompt_version_description: nullableText,
  prompt_version_label_id: nullableUuid,
  status,
  created_at: time,
  last_updated_at: time,
});

export const versionsReply = listOf(
  v.strictObject({
    id: uuid,
    prompt_id: uuid,
    prompt_template: v.strictObject(contentEntries),
    prompt_version: v.number(),
    prompt_version_status: status,
    prompt_description: nullableText,
    label_id: nullableUuid,
    /** Author of the version. */
    owner_id: uuid,
    created_at: time,
    status,
    object: v.literal('prompt'),
  }),
);
