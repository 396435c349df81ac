import { Migration } from '@mikro-orm/migrations';

/**
 * Adds models of integrations, budgets of providers and of an integration in a workspace, price adjustments, and price sources.
 */
export class IntegrationsComplete extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table integrations
    add column allow_all_models boolean not null default true,
    add column pricing_adjustments jsonb,
    add column global_usage_limits jsonb,
    add column global_rate_limits jsonb not null default '[]',
    add column global_provider_slug text,
    add column tags jsonb`,
  `alter table integration_workspaces
    add column usage_limits jsonb,
    add column rate_limits jsonb not null default '[]',
    add column last_reset_at timestamptz,
    add column exhausted_at timestamptz`,
  `alter table providers
    add column usage_limits jsonb,
    add column rate_limits jsonb not null default '[]',
    add column last_reset_at timestamptz,
    add column exhausted_at timestamptz,
    add column tags jsonb`,
  `create table integration_models (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    integration_id uuid not null references integrations,
    slug text not null,
    enabled boolean not null,
    is_custom boolean not null default false,
    is_finetune boolean not null default false,
    base_model_slug text,
    pricing_config jsonb,
    custom_host text,
    custom_headers text,
    header_names jsonb not null default '{}',
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (integration_id, slug)
  )`,
  `create index integration_models_by_organisation on integration_models (organisation_id)`,
  `alter table request_records add column price_source text`,
  // Time at which a provider last served a request.
  `create index request_records_by_provider on request_records (workspace_id, provider_slug, created_at)
    where provider_slug is not null`,
];
