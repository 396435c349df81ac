import { Migration } from '@mikro-orm/migrations';

/** A2A agents of workspaces, with flags of their skills and their users. */
export class AgentServers extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table agent_servers (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    integration_id uuid not null references agent_integrations,
    slug text not null,
    name text not null,
    description text,
    default_user_access text not null check (default_user_access in ('allow', 'deny')),
    status text not null check (status in ('active', 'archived')),
    owner_id uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index agent_servers_slug on agent_servers (workspace_id, slug) where status = 'active'`,
  'create index agent_servers_by_integration on agent_servers (integration_id)',
  `create table agent_server_skills (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references agent_servers,
    skill text not null,
    enabled boolean not null,
    last_updated_at timestamptz not null,
    unique (server_id, skill))`,
  `create table agent_server_users (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references agent_servers,
    user_id uuid not null references users,
    enabled boolean not null,
    last_updated_at timestamptz not null,
    unique (server_id, user_id))`,
  'create index agent_server_users_by_user on agent_server_users (user_id)',
];
