import { Migration } from '@mikro-orm/migrations';

/** Prompts, their versions, and the versions that labels name. */
export class Prompts extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table prompts (
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
  `create unique index prompts_slug on prompts (organisation_id, slug) where status = 'active'`,
  'create index prompts_by_workspace on prompts (workspace_id)',
  'create index prompts_by_collection on prompts (collection_id)',
  'create index prompts_shared on prompts (organisation_id) where shared_with is not null',
  `create table prompt_versions (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    prompt_id uuid not null references prompts,
    number integer not null,
    string text not null,
    is_raw_template boolean not null,
    parameters jsonb not null,
    model text,
    virtual_key text,
    functions jsonb,
    tools jsonb,
    tool_choice jsonb,
    template_metadata jsonb,
    description text,
    owner_id uuid not null,
    created_at timestamptz not null,
    unique (prompt_id, number))`,
  `create table prompt_label_versions (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    prompt_id uuid not null references prompts,
    label_id uuid not null references prompt_labels,
    versions jsonb not null,
    previous jsonb not null,
    updated_by uuid not null,
    last_updated_at timestamptz not null,
    unique (prompt_id, label_id))`,
  'create index prompt_label_versions_by_label on prompt_label_versions (label_id)',
];
