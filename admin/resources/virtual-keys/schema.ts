import * as v from 'valibot';
import { listOf, nullableText, nullableTime, success, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, idOrSlug } from '../../http/request/schemas.ts';
import { rateLimitReplySchema, usageLimitsReplySchema } from '../../limits/schema.ts';
import { mappingsReply } from '../integrations/secret-mappings/mapping-schema.ts';
import { listEntries } from '../providers/reply-schema.ts';

export const migrateBody = v.strictObject({
  organisation_id: v.optional(id),
  workspace_id: v.optional(idOrSlug),
  virtual_key_id: idOrSlug,
});

const virtualKey = v.strictObject({
  id: uuid,
  slug: v.string(),
  name: v.string(),
  note: nullableText,
  /** `archived`: its integration is archived or not shared with the workspace any more, and it cannot be called. */
  status: v.picklist(['active', 'exhausted', 'expired', 'archived']),
  usage_limits: v.nullable(usageLimitsReplySchema),
  rate_limits: v.nullable(v.array(rateLimitReplySchema)),
  reset_usage: v.null(),
  last_reset_at: nullableTime,
  expires_at: nullableTime,
  ai_provider_name: nullableText,
  /** Last characters of the credential, if it is the workspace's own. */
  masked_api_key: nullableText,
  /** Settings other than secrets. Empty if they belong to the organisation. */
  model_config: v.record(v.string(), v.unknown()),
  integration_id: v.string(),
  workspace_id: uuid,
  tags: v.nullable(v.record(v.string(), v.unknown())),
  secret_mappings: mappingsReply,
  created_at: time,
  object: v.literal('virtual-key'),
});

export const listReply = listOf(v.strictObject({ ...virtualKey.entries, ...listEntries }));
export const readReply = virtualKey;
export const createReply = success(v.strictObject({ slug: v.string() }));
export const migrateReply = success(v.strictObject({ slug: v.string(), integration_id: v.string() }));
