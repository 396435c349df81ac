import { Migration } from '@mikro-orm/migrations';

/** Groups of directories, their members, and the roles that they give in workspaces. */
export class ScimGroups extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table scim_groups (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    display_name text not null,
    external_id text,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1)`,
  'create unique index scim_groups_name on scim_groups (organisation_id, lower(display_name))',
  'create index scim_groups_external_id on scim_groups (organisation_id, external_id) where external_id is not null',
  `create table scim_group_members (
    organisation_id uuid not null references organisations,
    group_id uuid not null references scim_groups on delete cascade,
    user_id uuid not null references users on delete cascade,
    primary key (group_id, user_id))`,
  'create index scim_group_members_by_user on scim_group_members (user_id)',
  `create table scim_group_workspaces (
    id uuid primary key,
    organisation_id uuid not null references organisations,
    group_id uuid not null references scim_groups on delete cascade,
    workspace_id uuid not null references workspaces,
    role text not null check (role in ('admin', 'manager', 'member')),
    by_name boolean not null,
    made_workspace boolean not null,
    created_at timestamptz not null,
    unique (group_id, workspace_id))`,
  'create index scim_group_workspaces_by_workspace on scim_group_workspaces (workspace_id)',
  'alter table workspace_members add column by_group boolean not null default false',
];
