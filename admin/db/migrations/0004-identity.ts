import { Migration } from '@mikro-orm/migrations';

/** Adds users, memberships, invites, sessions and one-time links. */
export class Identity extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table users (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    email text not null,
    email_verified_at timestamptz,
    first_name text,
    last_name text,
    role text not null check (role in ('owner', 'admin', 'member')),
    password_hash text,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (organisation_id, email)
  )`,
  `create index users_by_email on users (email)`,
  `create table workspace_members (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    user_id uuid not null references users on delete cascade,
    role text not null check (role in ('admin', 'manager', 'member', 'viewer')),
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (workspace_id, user_id)
  )`,
  `create index workspace_members_by_user on workspace_members (user_id)`,
  `create table user_invites (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    email text not null,
    role text not null check (role in ('owner', 'admin', 'member')),
    workspaces jsonb not null,
    api_key jsonb,
    token_hash text not null unique,
    status text not null check (status in ('pending', 'accepted', 'cancelled', 'expired')),
    invited_by uuid,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    accepted_at timestamptz,
    revision integer not null default 1
  )`,
  `create unique index user_invites_one_pending on user_invites (organisation_id, email) where status = 'pending'`,
  `create index user_invites_by_time on user_invites (organisation_id, created_at)`,
  `create table sessions (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    user_id uuid not null references users on delete cascade,
    token_hash text not null unique,
    created_at timestamptz not null,
    last_seen_at timestamptz not null,
    expires_at timestamptz not null,
    client_ip text not null,
    user_agent text
  )`,
  `create index sessions_by_user on sessions (user_id)`,
  `create table one_time_tokens (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    user_id uuid not null references users on delete cascade,
    purpose text not null check (purpose in ('set-password', 'verify-email')),
    token_hash text not null unique,
    created_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  `create index one_time_tokens_by_user on one_time_tokens (user_id)`,
];
