import { Migration } from '@mikro-orm/migrations';

/** Labels of prompt versions, with the three universal ones for each existing organisation. */
export class PromptLabels extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table prompt_labels (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    workspace_id uuid references workspaces,
    name text not null,
    description text,
    color_code text,
    is_universal boolean not null,
    status text not null check (status in ('active', 'archived')),
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  `create unique index prompt_labels_name on prompt_labels (organisation_id, coalesce(workspace_id, organisation_id), name)
    where status = 'active'`,
  'create index prompt_labels_by_workspace on prompt_labels (workspace_id)',
  `insert into prompt_labels (id, organisation_id, name, is_universal, status, created_at, last_updated_at)
    select gen_random_uuid(), o.id, n.name, true, 'active', now(), now()
    from organisations o cross join (values ('production'), ('staging'), ('development')) n(name)`,
];
