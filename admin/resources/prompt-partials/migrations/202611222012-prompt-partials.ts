import { Migration } from '@mikro-orm/migrations';

/** Partials of prompts and their versions. */
export class PromptPartials extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table prompt_partials (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    collection_id uuid not null references prompt_collections,
    slug text not null,
    name text not null,
    status text not null check (status in ('active', 'archived')),
    version integer not null,
    latest_version integer not null,
    shared_with text[],
    owner_id uuid not null,
    updated_by uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index prompt_partials_slug on prompt_partials (organisation_id, slug) where status = 'active'`,
  'create index prompt_partials_by_workspace on prompt_partials (workspace_id)',
  'create index prompt_partials_by_collection on prompt_partials (collection_id)',
  'create index prompt_partials_shared on prompt_partials (organisation_id) where shared_with is not null',
  `create table prompt_partial_versions (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    partial_id uuid not null references prompt_partials,
    number integer not null,
    string text not null,
    description text,
    owner_id uuid not null,
    created_at timestamptz not null,
    unique (partial_id, number))`,
];
