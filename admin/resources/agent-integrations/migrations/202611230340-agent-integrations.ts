import { Migration } from '@mikro-orm/migrations';

/** A2A agents of other parties, the workspaces that may use them, and flags of their skills. */
export class AgentIntegrations extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table agent_integrations (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid references workspaces,
    slug text not null,
    name text not null,
    description text,
    url text not null,
    auth_type text not null,
    configurations jsonb not null,
    custom_headers text,
    header_names jsonb not null default '{}',
    agent_card jsonb,
    global_workspace_access boolean not null default false,
    status text not null check (status in ('active', 'archived')),
    owner_id uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index agent_integrations_slug on agent_integrations (organisation_id, slug) where status = 'active'`,
  'create index agent_integrations_by_workspace on agent_integrations (workspace_id)',
  `create table agent_integration_workspaces (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    integration_id uuid not null references agent_integrations,
    workspace_id uuid not null references workspaces,
    enabled boolean not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    unique (integration_id, workspace_id))`,
  'create index agent_integration_workspaces_by_workspace on agent_integration_workspaces (workspace_id)',
  `create table agent_integration_skills (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    integration_id uuid not null references agent_integrations,
    skill text not null,
    enabled boolean not null,
    last_updated_at timestamptz not null,
    unique (integration_id, skill))`,
];
