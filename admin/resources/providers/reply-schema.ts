import * as v from 'valibot';
import { listOf, nullableText, nullableTime, time, uuid } from '../../http/reply-schemas.ts';

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
  status: v.picklist(['active', 'expired']),
  usage_limits: v.null(),
  rate_limits: v.null(),
  reset_usage: v.null(),
  last_reset_at: nullableTime,
  expires_at: nullableTime,
  created_at: time,
  last_updated_at: time,
  object: v.literal('provider'),
});

export const listReply = listOf(provider);
export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('provider') });
export const readReply = provider;
export const updateReply = v.strictObject({ id: uuid, slug: v.string() });
