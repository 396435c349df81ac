import { Migration } from '@mikro-orm/migrations';

/** Adds settings of organisations and workspaces, budgets of workspaces, and exclusions from the organisation's guardrails. */
export class Tenancy extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table organisations
    add column settings jsonb,
    add column security_settings jsonb,
    add column data_plane_security_settings jsonb,
    add column export_settings jsonb,
    add column auth_settings jsonb,
    add column overrides jsonb,
    add column defaults jsonb`,
  `alter table workspaces
    add column settings jsonb,
    add column security_settings jsonb,
    add column data_plane_security_settings jsonb,
    add column export_settings jsonb,
    add column usage_limits jsonb,
    add column rate_limits jsonb,
    add column input_guardrails jsonb,
    add column output_guardrails jsonb,
    add column user_api_key_config_id uuid references configs,
    add column archived_at timestamptz`,
  // The slug of a deleted workspace can be used again.
  `alter table workspaces drop constraint workspaces_organisation_id_slug_key`,
  `create unique index workspaces_slug on workspaces (organisation_id, slug) where status = 'active'`,
  `create table workspace_exclusions (
    workspace_id uuid not null references workspaces,
    kind text not null check (kind in ('input', 'output')),
    organisation_id uuid not null references organisations,
    created_at timestamptz not null,
    primary key (workspace_id, kind)
  )`,
  `create index workspace_exclusions_by_organisation on workspace_exclusions (organisation_id)`,
];
