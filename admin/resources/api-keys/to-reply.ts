import type { ApiKey } from './entity.ts';

/** A key as it is read back: never its secret, never its digest. */
export function toReply(row: ApiKey) {
  return {
    id: row.id,
    key: `svc_***${row.lastCharacters}`,
    name: row.name,
    description: row.description ?? null,
    type: row.type,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? null,
    user_id: row.userId ?? null,
    status: keyStatus(row, Date.now()),
    created_at: row.createdAt.toISOString(),
    last_updated_at: row.lastUpdatedAt.toISOString(),
    creation_mode: row.creationMode,
    rate_limits: [],
    usage_limits: null,
    reset_usage: null,
    last_reset_at: null,
    scopes: row.scopes,
    defaults: { metadata: row.defaultMetadata, config_id: row.defaultConfigId ?? null },
    allow_config_override: row.allowConfigOverride ? 1 : 0,
    alert_emails: [],
    expires_at: row.expiresAt?.toISOString() ?? null,
    key_transition_expires_at: row.previousExpiresAt?.toISOString() ?? null,
    rotation_policy: null,
    object: 'api-key',
  };
}

/** State as callers meet it. */
export function keyStatus(row: ApiKey, now: number): 'active' | 'expired' {
  return row.expiresAt && row.expiresAt.getTime() <= now ? 'expired' : 'active';
}
