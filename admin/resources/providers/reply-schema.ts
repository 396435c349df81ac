import * as v from 'valibot';
import { listOf, nullableText, nullableTime, time, uuid } from '../../http/reply/reply-schemas.ts';
import { rateLimitReplySchema, usageLimitsReplySchema } from '../../limits/schema.ts';
import { mappingsReply } from '../integrations/secret-mappings/mapping-schema.ts';

const provider = v.strictObject({
  id: uuid,
  slug: v.string(),
  name: v.string(),
  /** The integration's slug. */
  integration_id: v.string(),
  ai_provider_name: nullableText,
  workspace_id: uuid,
  organisation_id: uuid,
  note: nullableText,
  /** `archived`: its integration is archived or not shared with the workspace any more, and it cannot be called. */
  status: v.picklist(['active', 'exhausted', 'expired', 'archived']),
  usage_limits: v.nullable(usageLimitsReplySchema),
  rate_limits: v.nullable(v.array(rateLimitReplySchema)),
  reset_usage: v.null(),
  last_reset_at: nullableTime,
  expires_at: nullableTime,
  /** Equal to masked_api_key, because replies never contain the credential. */
  key: nullableText,
  masked_api_key: nullableText,
  /** Settings other than secrets. Empty if they belong to the organisation. */
  model_config: v.record(v.string(), v.unknown()),
  tags: v.nullable(v.record(v.string(), v.unknown())),
  secret_mappings: mappingsReply,
  created_at: time,
  last_updated_at: time,
  object: v.literal('provider'),
});

/** Members of rows that only lists have. */
export const listEntries = {
  organisation_id: uuid,
  workspace_name: nullableText,
  /** Type of the provider, as `ai_provider_name`. */
  provider: nullableText,
  /** With `return_last_used=true`. */
  last_used_at: v.optional(nullableTime),
};

export const listReply = listOf(v.strictObject({ ...provider.entries, ...listEntries }));
export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('provider') });
export const readReply = provider;
export const modelsReply = listOf(
  v.strictObject({
    id: v.string(),
    slug: v.string(),
    canonical_slug: v.string(),
    /** Slug of the provider. */
    provider: v.string(),
    /** Type of the provider. */
    ai_service: v.string(),
    object: v.literal('model'),
  }),
);
export const updateReply = v.strictObject({ id: uuid, slug: v.string() });
