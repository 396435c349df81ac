import * as v from 'valibot';
import { listOf, nullableText, nullableTime, nullableUuid, time, uuid } from '../../http/reply/reply-schemas.ts';
import { rateLimitReplySchema, usageLimitsReplySchema } from '../../limits/schema.ts';
import { pricingAdjustments } from '../../pricing/schema.ts';
import { mappingsReply } from './secret-mappings/mapping-schema.ts';

const rowEntries = {
  id: uuid,
  organisation_id: uuid,
  workspace_id: nullableUuid,
  /** Owner: the organisation, or the workspace in `workspace_id`. */
  type: v.picklist(['organisation', 'workspace']),
  ai_provider_id: v.string(),
  name: v.string(),
  status: v.picklist(['active', 'archived']),
  created_at: time,
  last_updated_at: time,
  slug: v.string(),
  description: nullableText,
  object: v.literal('integration'),
};

const limits = {
  usage_limits: v.nullable(v.array(usageLimitsReplySchema)),
  rate_limits: v.nullable(v.array(rateLimitReplySchema)),
};
const access = v.strictObject({ enabled: v.boolean(), ...limits });

export const listReply = listOf(v.strictObject(rowEntries));

export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('integration') });

export const readReply = v.strictObject({
  ...rowEntries,
  masked_key: nullableText,
  /** Fields by type of provider; secret ones masked by the handler. */
  configurations: v.record(v.string(), v.unknown()),
  global_workspace_access_settings: access,
  allow_all_models: v.boolean(),
  workspace_count: v.number(),
  secret_mappings: mappingsReply,
  pricing_adjustments: v.nullable(pricingAdjustments),
  /** Saved adjustments, oldest first, if there were several; null as time: from the beginning. */
  pricing_versions: v.array(
    v.strictObject({ effective_from: nullableTime, pricing_adjustments: v.nullable(pricingAdjustments) }),
  ),
  tags: v.nullable(v.record(v.string(), v.unknown())),
});

export const workspacesReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  workspaces: v.array(
    v.strictObject({
      id: uuid,
      enabled: v.boolean(),
      ...limits,
      status: v.picklist(['active', 'exhausted', 'archived']),
      created_at: time,
      last_updated_at: time,
      last_reset_at: nullableTime,
    }),
  ),
  global_workspace_access: access,
});
