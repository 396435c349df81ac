import { Migration } from '@mikro-orm/migrations';

/** The tool library and the versions of its tools. */
export class PromptTools extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table prompt_tools (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    collection_id uuid not null references prompt_collections,
    slug text not null,
    name text not null,
    status text not null check (status in ('active', 'archived')),
    version integer not null,
    latest_version integer not null,
    owner_id uuid not null,
    updated_by uuid not null,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index prompt_tools_slug on prompt_tools (organisation_id, slug) where status = 'active'`,
  'create index prompt_tools_by_workspace on prompt_tools (workspace_id)',
  'create index prompt_tools_by_collection on prompt_tools (collection_id)',
  `create table prompt_tool_versions (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid not null references workspaces,
    tool_id uuid not null references prompt_tools,
    number integer not null,
    definition jsonb not null,
    description text,
    owner_id uuid not null,
    created_at timestamptz not null,
    unique (tool_id, number))`,
];
