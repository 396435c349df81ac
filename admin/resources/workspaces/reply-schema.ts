import * as v from 'valibot';
import { rateLimitReplySchema, usageLimitsReplySchema } from '../../limits/schema.ts';
import {
  dataPlaneSecuritySettingsReply,
  exportSettingsReply,
  securitySettingsReply,
  sharedSettingReplyEntries,
} from '../organisations/setting-schemas.ts';
import { workspaceUserReply } from '../workspace-users/schema.ts';

const row = {
  id: v.string(),
  slug: v.string(),
  name: v.string(),
  icon: v.nullable(v.string()),
  description: v.nullable(v.string()),
  created_at: v.string(),
  last_updated_at: v.string(),
  is_default: v.picklist([0, 1]),
  status: v.picklist(['active', 'archived']),
  usage_limits: v.array(usageLimitsReplySchema),
  rate_limits: v.array(rateLimitReplySchema),
  reject_unmetered_requests: v.boolean(),
  object: v.literal('workspace'),
};

const rowDefaults = {
  metadata: v.record(v.string(), v.string()),
  is_default: v.picklist([0, 1]),
  object: v.literal('workspace'),
};

/** A page of workspaces. */
export const listReply = v.strictObject({
  object: v.literal('list'),
  total: v.number(),
  data: v.array(v.strictObject({ ...row, defaults: v.strictObject(rowDefaults) })),
});

/** One workspace with all its settings. */
export const detailReply = v.strictObject({
  ...row,
  defaults: v.strictObject({
    ...rowDefaults,
    start_hooks: v.array(v.string()),
    input_guardrails: v.array(v.string()),
    output_guardrails: v.array(v.string()),
    mcp_input_guardrails: v.array(v.string()),
    mcp_output_guardrails: v.array(v.string()),
    user_api_key_config: v.nullable(v.string()),
  }),
  /** The first hundred. A separate route lists all of them. */
  users: v.array(workspaceUserReply),
  settings: v.strictObject({
    ...sharedSettingReplyEntries,
    user_key_metadata: v.picklist([0, 1]),
    user_key_metadata_override: v.picklist([0, 1]),
  }),
  security_settings: securitySettingsReply,
  data_plane_security_settings: dataPlaneSecuritySettingsReply,
  export_settings: exportSettingsReply,
});

const { scopes: _, settings: __, first_name: ___, last_name: ____, ...userTexts } = workspaceUserReply.entries;

/** The reply to the creation. All members of its users are texts, because clients of the known API cannot read others there. */
export const createReply = v.strictObject({
  ...detailReply.entries,
  users: v.array(v.strictObject({ ...userTexts, first_name: v.optional(v.string()), last_name: v.optional(v.string()) })),
});
