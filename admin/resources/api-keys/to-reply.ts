import * as v from 'valibot';
import { type BudgetUsage, rateLimitReplySchema, usageLimitsReply, usageLimitsReplySchema } from '../../limits/schema.ts';
import type { ApiKey } from './entity.ts';
import { keyState } from './key-state.ts';
import { optionReplies, optionReply } from './options.ts';
import { keyStates } from './schema.ts';

const time = v.nullable(v.string());

/** A key in replies. Strict, so that no other field of a row is sent. */
export const apiKeyReply = v.strictObject({
  id: v.string(),
  key: v.string(),
  name: v.string(),
  type: v.picklist(['organisation-service', 'workspace-service', 'workspace-user']),
  organisation_id: v.string(),
  workspace_id: v.nullable(v.string()),
  user_id: v.nullable(v.string()),
  status: v.picklist(keyStates),
  created_at: v.string(),
  last_updated_at: v.string(),
  creation_mode: v.picklist(['ui', 'api', 'auto']),
  rate_limits: v.array(rateLimitReplySchema),
  usage_limits: v.nullable(usageLimitsReplySchema),
  ...optionReplies,
  reset_usage: v.null(),
  last_reset_at: time,
  scopes: v.array(v.string()),
  defaults: v.strictObject({ metadata: v.record(v.string(), v.string()), config_id: v.nullable(v.string()) }),
  allow_config_override: v.picklist([0, 1]),
  expires_at: time,
  key_transition_expires_at: time,
  last_rotated_at: time,
  rotation_policy: v.nullable(
    v.strictObject({
      rotation_period: v.nullable(v.picklist(['weekly', 'monthly'])),
      rotation_period_days: v.nullable(v.number()),
      next_rotation_at: time,
      key_transition_period_ms: v.number(),
      /** Time at which the current secret stops working unless the key is rotated before. */
      secret_expires_at: time,
      status: v.literal('ACTIVE'),
    }),
  ),
  object: v.literal('api-key'),
});

/** Reply form of a key, without secret and digest. `usage`: budget usage by budget id, if requested. */
export function toReply(row: ApiKey, usage?: ReadonlyMap<string, BudgetUsage>): v.InferOutput<typeof apiKeyReply> {
  return {
    id: row.id,
    key: `svc_***${row.lastCharacters}`,
    name: row.name,
    type: row.type,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? null,
    user_id: row.userId ?? null,
    status: keyState(row, Date.now()),
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    creation_mode: row.creationMode,
    rate_limits: row.rateLimits,
    usage_limits: usageLimitsReply(row.usageLimits ?? null, usage?.get(row.usageLimits?.id ?? '')),
    ...optionReply(row),
    reset_usage: null,
    last_reset_at: iso(row.lastResetAt),
    scopes: row.scopes,
    defaults: { metadata: row.defaultMetadata, config_id: row.defaultConfigId ?? null },
    allow_config_override: row.allowConfigOverride ? 1 : 0,
    expires_at: iso(row.expiresAt),
    key_transition_expires_at: iso(row.previousExpiresAt),
    last_rotated_at: iso(row.lastRotatedAt),
    rotation_policy: rotationPolicy(row),
    object: 'api-key',
  };
}

function rotationPolicy(row: ApiKey): v.InferOutput<typeof apiKeyReply>['rotation_policy'] {
  if (row.keyTransitionPeriodMs === null || row.keyTransitionPeriodMs === undefined) return null;
  return {
    rotation_period: row.rotationPeriod ?? null,
    rotation_period_days: row.rotationPeriodDays ?? null,
    next_rotation_at: iso(row.nextRotationAt),
    key_transition_period_ms: row.keyTransitionPeriodMs,
    secret_expires_at: iso(row.secretExpiresAt),
    status: 'ACTIVE',
  };
}

function iso(time: Date | null | undefined): string | null {
  return time?.toISOString() ?? null;
}
