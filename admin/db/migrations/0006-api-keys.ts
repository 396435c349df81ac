import { Migration } from '@mikro-orm/migrations';

/**
 * Adds limits, rotation policies and alert addresses of API keys, the grantor of their scopes, and indexes for a million keys.
 */
export class ApiKeysComplete extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table api_keys
    add column usage_limits jsonb,
    add column rate_limits jsonb not null default '[]',
    add column alert_emails jsonb not null default '[]',
    add column exhausted_at timestamptz,
    add column last_reset_at timestamptz,
    add column rotation_period text check (rotation_period in ('weekly', 'monthly')),
    add column rotation_period_days integer check (rotation_period_days between 1 and 365),
    add column next_rotation_at timestamptz,
    add column key_transition_period_ms bigint,
    add column secret_expires_at timestamptz,
    add column last_rotated_at timestamptz,
    add column rotation_notice_at timestamptz,
    add column granted_scopes jsonb,
    add column granted_by_key_id uuid,
    add column granted_by_user_id uuid,
    add check (rotation_period is null or rotation_period_days is null)`,
  // Lists are sorted newest first, for an organisation or one workspace. Type and times are included for filters and totals.
  `create index api_keys_of_organisation on api_keys (organisation_id, created_at desc, id) include (type, expires_at)`,
  `create index api_keys_of_workspace on api_keys (organisation_id, workspace_id, created_at desc, id) include (type, expires_at)`,
  `create index api_keys_of_user on api_keys (organisation_id, user_id, workspace_id) where user_id is not null`,
  `create index api_keys_by_grantor_key on api_keys (granted_by_key_id) where granted_by_key_id is not null`,
  `create index api_keys_by_grantor_user on api_keys (granted_by_user_id) where granted_by_user_id is not null`,
  `create index api_keys_by_config on api_keys (default_config_id) where default_config_id is not null`,
  `create index api_keys_by_rotation on api_keys (next_rotation_at) where next_rotation_at is not null`,
  `create index api_keys_by_transition on api_keys (previous_expires_at) where previous_digest is not null`,
];
