import { Migration } from '@mikro-orm/migrations';

/** MCP servers of workspaces, with their flags of capabilities and their users. */
export class McpServers extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table mcp_servers (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    integration_id uuid not null references mcp_integrations,
    slug text not null,
    name text not null,
    description text,
    default_user_access text not null check (default_user_access in ('allow', 'deny')),
    status text not null check (status in ('active', 'archived')),
    owner_id uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index mcp_servers_slug on mcp_servers (workspace_id, slug) where status = 'active'`,
  'create index mcp_servers_by_integration on mcp_servers (integration_id)',
  `create table mcp_server_capabilities (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references mcp_servers,
    type text not null check (type in ('tool', 'prompt', 'resource', 'resource_template')),
    name text not null,
    enabled boolean not null,
    last_updated_at timestamptz not null,
    unique (server_id, type, name))`,
  `create table mcp_server_users (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references mcp_servers,
    user_id uuid not null references users,
    enabled boolean not null,
    last_updated_at timestamptz not null,
    unique (server_id, user_id))`,
  'create index mcp_server_users_by_user on mcp_server_users (user_id)',
];
