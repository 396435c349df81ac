import { Migration } from '@mikro-orm/migrations';

/** Collections of prompts, with a default collection for each existing workspace. */
export class PromptCollections extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table prompt_collections (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    slug text not null,
    name text not null,
    parent_collection_id uuid references prompt_collections,
    is_default boolean not null,
    status text not null check (status in ('active', 'archived')),
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index prompt_collections_slug on prompt_collections (organisation_id, slug) where status = 'active'`,
  `create unique index prompt_collections_default on prompt_collections (workspace_id) where is_default and status = 'active'`,
  'create index prompt_collections_by_workspace on prompt_collections (workspace_id)',
  'create index prompt_collections_by_parent on prompt_collections (parent_collection_id)',
  `insert into prompt_collections (id, organisation_id, workspace_id, slug, name, is_default, status, created_at, last_updated_at)
    select gen_random_uuid(), organisation_id, id, 'default-' || id, 'Default', true, 'active', now(), now()
    from workspaces where status = 'active'`,
];
