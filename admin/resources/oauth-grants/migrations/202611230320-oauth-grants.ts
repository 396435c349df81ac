import { Migration } from '@mikro-orm/migrations';

/** Clients of the authorisation server, and what users granted them. */
export class OAuthGrants extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table oauth_clients (
    id uuid primary key,
    client_id text not null unique,
    name text not null,
    redirect_uris jsonb not null,
    created_at timestamptz not null,
    used_at timestamptz)`,
  `create table oauth_grants (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    server_id uuid not null references mcp_servers,
    user_id uuid not null references users,
    client_id text not null,
    client_name text not null,
    resource text not null,
    redirect_uri text not null,
    code_hash text not null unique,
    code_challenge text not null,
    code_expires_at timestamptz not null,
    status text not null check (status in ('pending', 'active', 'revoked')),
    generation integer not null,
    created_at timestamptz not null,
    last_used_at timestamptz not null,
    expires_at timestamptz not null)`,
  'create index oauth_grants_by_user on oauth_grants (user_id)',
  'create index oauth_grants_by_expiry on oauth_grants (expires_at)',
];
