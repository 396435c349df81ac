import { Migration } from '@mikro-orm/migrations';

/** Tenants, keys, providers, configs, audit, outbox and request records. */
export class FirstSlice extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table organisations (
    id uuid primary key,
    name text not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null
  )`,
  `create table workspaces (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    slug text not null,
    name text not null,
    description text,
    icon text,
    is_default boolean not null,
    metadata jsonb not null,
    status text not null check (status in ('active', 'archived')),
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    unique (organisation_id, slug)
  )`,
  `create unique index workspaces_one_default on workspaces (organisation_id) where is_default`,
  `create table api_keys (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid references workspaces,
    user_id uuid,
    type text not null check (type in ('organisation-service', 'workspace-service', 'workspace-user')),
    name text not null,
    description text,
    public_id text not null unique,
    digest text not null,
    last_characters text not null,
    previous_digest text,
    previous_expires_at timestamptz,
    scopes jsonb not null,
    default_config_id uuid,
    default_metadata jsonb not null,
    allow_config_override boolean not null,
    creation_mode text not null,
    expires_at timestamptz,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    check ((type = 'organisation-service') = (workspace_id is null)),
    check ((type = 'workspace-user') = (user_id is not null))
  )`,
  `create index api_keys_by_tenant on api_keys (organisation_id, workspace_id, created_at)`,
  `create table data_keys (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    version integer not null,
    wrapped text not null,
    created_at timestamptz not null,
    unique (organisation_id, version)
  )`,
  `create table integrations (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid references workspaces,
    slug text not null,
    name text not null,
    ai_provider_id text not null,
    description text,
    configurations jsonb not null,
    secrets text,
    secret_hints jsonb not null,
    global_workspace_access boolean not null,
    status text not null check (status in ('active', 'archived')),
    created_at timestamptz not null,
    last_updated_at timestamptz not null
  )`,
  `create unique index integrations_slug on integrations (organisation_id, slug) where status = 'active'`,
  `create table integration_workspaces (
    integration_id uuid not null references integrations,
    workspace_id uuid not null references workspaces,
    organisation_id uuid not null references organisations,
    enabled boolean not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    primary key (integration_id, workspace_id)
  )`,
  `create table providers (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    integration_id uuid not null references integrations,
    slug text not null,
    name text not null,
    note text,
    expires_at timestamptz,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    unique (workspace_id, slug)
  )`,
  `create index providers_by_integration on providers (integration_id)`,
  `create table configs (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    slug text not null,
    name text not null,
    is_default boolean not null,
    status text not null check (status in ('active', 'archived')),
    version_id uuid not null,
    owner_id uuid,
    updated_by uuid,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    unique (workspace_id, slug)
  )`,
  `create unique index configs_one_default on configs (workspace_id) where is_default`,
  `create table config_versions (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    config_id uuid not null references configs,
    number integer not null,
    config jsonb not null,
    owner_id uuid,
    created_at timestamptz not null,
    unique (config_id, number)
  )`,
  `create table audit_entries (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid,
    created_at timestamptz not null,
    method text not null,
    uri text not null,
    request_id text not null,
    request_body jsonb,
    query_params jsonb not null,
    user_id uuid,
    user_type text not null check (user_type in ('user', 'api_key', 'system')),
    response_status_code integer not null,
    error_code text,
    resource_type text not null,
    resource_id text,
    action text not null,
    client_ip text not null
  )`,
  `create index audit_entries_by_time on audit_entries (organisation_id, created_at)`,
  `create table outbox (
    revision bigint primary key,
    organisation_id uuid not null references organisations,
    kind text not null,
    document_id text not null,
    op text not null check (op in ('upsert', 'delete')),
    created_at timestamptz not null,
    published_at timestamptz
  )`,
  `create index outbox_unpublished on outbox (revision) where published_at is null`,
  // A single row. Each change locks it until the commit, so revisions follow the order of commits without gaps.
  `create table change_counter (
    id smallint primary key check (id = 1),
    revision bigint not null
  )`,
  `insert into change_counter (id, revision) values (1, 0)`,
  // Records outlive the rows they name, and come from requests with unknown keys: no foreign keys, tenant nullable.
  `create table request_records (
    id uuid primary key,
    organisation_id uuid,
    workspace_id uuid,
    trace_id text not null,
    created_at timestamptz not null,
    status integer not null,
    outcome text not null,
    provider text,
    provider_slug text,
    model text,
    config_slug text,
    api_key_id text,
    cost_micro_usd bigint,
    record jsonb not null
  )`,
  `create index request_records_by_trace on request_records (trace_id)`,
  `create index request_records_by_time on request_records (created_at)`,
];
