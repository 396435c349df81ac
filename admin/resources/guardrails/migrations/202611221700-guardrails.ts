import { Migration } from '@mikro-orm/migrations';

/** Saved guardrails and their versions. */
export class Guardrails extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table guardrails (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid references workspaces,
    slug text not null,
    name text not null,
    target text not null check (target in ('llm', 'mcp_tools')),
    status text not null check (status in ('active', 'archived')),
    version_id uuid not null,
    owner_id uuid not null,
    updated_by uuid,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index guardrails_slug on guardrails (organisation_id, slug) where status = 'active'`,
  'create index guardrails_by_workspace on guardrails (workspace_id)',
  `create table guardrail_versions (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid references workspaces,
    guardrail_id uuid not null references guardrails,
    number integer not null,
    checks jsonb not null,
    actions jsonb not null,
    sides jsonb not null,
    secrets text,
    owner_id uuid not null,
    created_at timestamptz not null,
    unique (guardrail_id, number))`,
];
