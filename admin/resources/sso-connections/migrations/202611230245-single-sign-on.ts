import { Migration } from '@mikro-orm/migrations';

/** Connections to identity providers, accounts there, sign-ins that have begun, and verified e-mail domains. */
export class SingleSignOn extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table sso_connections (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    slug text not null,
    name text not null,
    type text not null check (type in ('oidc', 'saml')),
    is_enabled boolean not null,
    settings jsonb not null,
    group_rules jsonb not null,
    secrets text,
    secret_hints jsonb not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (organisation_id, slug))`,
  `create table external_identities (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    user_id uuid not null references users on delete cascade,
    connection_id uuid not null references sso_connections on delete cascade,
    type text not null check (type in ('oidc', 'saml')),
    issuer text not null,
    subject text not null,
    granted_workspaces jsonb not null,
    created_at timestamptz not null,
    last_sign_in_at timestamptz not null,
    unique (organisation_id, type, issuer, subject))`,
  'create index external_identities_by_user on external_identities (user_id)',
  'create index external_identities_by_connection on external_identities (connection_id)',
  `create table sign_in_attempts (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    connection_id uuid not null references sso_connections on delete cascade,
    state_hash text not null unique,
    browser_hash text not null,
    secrets text not null,
    return_to text,
    created_at timestamptz not null,
    expires_at timestamptz not null)`,
  'create index sign_in_attempts_by_end on sign_in_attempts (expires_at)',
  `create table email_domains (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    domain text not null,
    allow_subdomains boolean not null,
    challenge text not null,
    verified_at timestamptz,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (organisation_id, domain))`,
  'create index email_domains_by_domain on email_domains (domain)',
  `alter table sessions
    add column connection_id uuid references sso_connections on delete cascade,
    add column identity_id uuid references external_identities on delete cascade,
    add column provider_session text,
    add column id_token text,
    add column refresh_family text unique,
    add column refresh_hash text`,
  'create index sessions_by_identity on sessions (identity_id) where identity_id is not null',
];
