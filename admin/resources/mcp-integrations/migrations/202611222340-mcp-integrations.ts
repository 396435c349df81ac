import { Migration } from '@mikro-orm/migrations';

/** MCP servers of other parties, the workspaces that may use them, and their capabilities. */
export class McpIntegrations extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table mcp_integrations (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid references workspaces,
    slug text not null,
    name text not null,
    description text,
    url text not null,
    auth_type text not null,
    transport text not null,
    configurations jsonb not null,
    custom_headers text,
    header_names jsonb not null default '{}',
    global_workspace_access boolean not null default false,
    server_info jsonb,
    sync_status text,
    sync_error text,
    last_synced_at timestamptz,
    status text not null check (status in ('active', 'archived')),
    owner_id uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index mcp_integrations_slug on mcp_integrations (organisation_id, slug) where status = 'active'`,
  'create index mcp_integrations_by_workspace on mcp_integrations (workspace_id)',
  `create table mcp_integration_workspaces (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    integration_id uuid not null references mcp_integrations,
    workspace_id uuid not null references workspaces,
    enabled boolean not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    unique (integration_id, workspace_id))`,
  'create index mcp_integration_workspaces_by_workspace on mcp_integration_workspaces (workspace_id)',
  `create table mcp_capabilities (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    integration_id uuid not null references mcp_integrations,
    type text not null check (type in ('tool', 'prompt', 'resource', 'resource_template')),
    name text not null,
    enabled boolean not null,
    definition jsonb,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    unique (integration_id, type, name))`,
];
