import { Migration } from '@mikro-orm/migrations';

/** Accounts of users at MCP servers, clients of authorisation servers, and authorisations in progress. */
export class McpConnections extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  'alter table mcp_integrations add column client_secret text',
  `create table mcp_connections (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references mcp_servers,
    user_id uuid references users,
    url text not null,
    issuer text not null,
    token_id uuid not null,
    secrets text not null,
    expires_at timestamptz,
    claimed_until timestamptz,
    created_at timestamptz not null,
    last_updated_at timestamptz not null)`,
  `create unique index mcp_connections_by_server on mcp_connections
    (server_id, coalesce(user_id, '00000000-0000-0000-0000-000000000000'))`,
  'create index mcp_connections_by_user on mcp_connections (user_id)',
  `create table mcp_oauth_clients (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    integration_id uuid not null references mcp_integrations,
    issuer text not null,
    redirect_uri text not null,
    secrets text not null,
    expires_at timestamptz,
    created_at timestamptz not null,
    unique (integration_id, issuer, redirect_uri))`,
  `create table mcp_authorisations (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references mcp_servers,
    user_id uuid not null references users,
    state_hash text not null unique,
    secrets text not null,
    created_at timestamptz not null,
    expires_at timestamptz not null)`,
  'create index mcp_authorisations_by_user on mcp_authorisations (user_id, server_id)',
];
