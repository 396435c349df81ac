import { Migration } from '@mikro-orm/migrations';

/** Adds references to external secrets and the mappings of integration fields to them. */
export class SecretReferences extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table secret_references (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    slug text not null,
    name text not null,
    description text,
    manager_type text not null check (manager_type in ('aws_sm', 'azure_kv', 'hashicorp_vault')),
    auth jsonb not null,
    secrets text,
    secret_hints jsonb not null,
    secret_path text not null,
    secret_key text,
    allow_all_workspaces boolean not null,
    allowed_workspaces jsonb not null,
    tags jsonb not null,
    created_by uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1,
    unique (organisation_id, slug))`,
  `create table secret_mappings (
    integration_id uuid not null references integrations,
    field text not null,
    organisation_id uuid not null references organisations,
    secret_reference_id uuid not null references secret_references,
    secret_key text,
    value_format text check (value_format in ('string', 'json')),
    position integer not null,
    primary key (integration_id, field))`,
  // Lists the users of a reference.
  'create index secret_mappings_by_reference on secret_mappings (secret_reference_id)',
];
