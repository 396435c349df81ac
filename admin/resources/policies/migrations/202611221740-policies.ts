import { Migration } from '@mikro-orm/migrations';

/** Adds policies, and their counters to the ledger of limits. */
export class Policies extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const shared = `
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    workspace_id uuid not null references workspaces (id),
    name text,
    description text,
    conditions jsonb not null,
    group_by jsonb not null,
    status text not null check (status in ('active', 'archived')),
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1`;

const statements = [
  `create table usage_policies (${shared},
    type text not null check (type in ('cost', 'tokens', 'requests')),
    credit_limit double precision not null,
    alert_threshold double precision,
    periodic_reset text check (periodic_reset in ('weekly', 'monthly')),
    periodic_reset_days integer,
    next_usage_reset_at timestamptz,
    last_reset_at timestamptz)`,
  `create table rate_policies (${shared},
    type text not null check (type in ('requests', 'tokens')),
    unit text not null check (unit in ('rps', 'rpm', 'rph', 'rpd', 'rpw')),
    value bigint not null,
    target text not null check (target in ('llm', 'mcp_tools')))`,
  'create index usage_policies_by_time on usage_policies (workspace_id, status, created_at desc)',
  'create index rate_policies_by_time on rate_policies (workspace_id, status, created_at desc)',
  // Names the counter of a policy: one policy has many.
  'alter table limit_budgets add column value_key text',
  'alter table limit_budgets drop constraint limit_budgets_unit_check',
  `alter table limit_budgets add constraint limit_budgets_unit_check check (unit in ('cost', 'tokens', 'requests'))`,
  `create index limit_budgets_to_audit on limit_budgets (key) where scope = 'policy'
    and ((threshold_crossed_at is not null and threshold_told_at is null) or (exhausted_at is not null and exhausted_told_at is null))`,
  'create index limit_budgets_by_entity on limit_budgets (entity_id, key)',
];
