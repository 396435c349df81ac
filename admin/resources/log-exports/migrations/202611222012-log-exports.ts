import { Migration } from '@mikro-orm/migrations';

/** The tables of log exports. */
export class LogExports extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table log_exports (
    id uuid primary key,
    organisation_id uuid not null references organisations (id),
    workspace_id uuid not null references workspaces (id),
    created_by_key text not null,
    created_by_user uuid,
    description text,
    filters jsonb not null,
    requested_data jsonb not null,
    format text not null check (format in ('jsonl', 'jsonl.gz', 'parquet')),
    status text not null check (status in ('draft', 'in_progress', 'success', 'failed', 'stopped')),
    sight jsonb not null,
    total integer not null,
    cut_at timestamptz,
    parts integer not null default 0,
    rows_done integer not null default 0,
    position text,
    failures integer not null default 0,
    error text,
    file_bytes bigint,
    expires_at timestamptz,
    archived_at timestamptz,
    created_at timestamptz not null,
    last_updated_at timestamptz not null,
    revision integer not null default 1
  )`,
  'create index log_exports_by_time on log_exports (organisation_id, workspace_id, created_at desc)',
  'create index log_exports_by_expiry on log_exports (expires_at) where expires_at is not null',
  `create table log_export_parts (
    export_id uuid not null references log_exports (id) on delete cascade,
    kind text not null check (kind in ('rows', 'file')),
    number integer not null,
    organisation_id uuid not null,
    bytes bytea not null,
    primary key (export_id, kind, number)
  )`,
  // The bytes are compressed and sealed, so that compressing them again would only cost time.
  'alter table log_export_parts alter column bytes set storage external',
];
