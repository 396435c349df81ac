import { Migration } from '@mikro-orm/migrations';

/** The table of headers and bodies of requests, partitioned by UTC day as their records are. */
export class RecordContents extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table record_contents (
    id uuid not null,
    created_at timestamptz not null,
    organisation_id uuid not null,
    workspace_id uuid not null,
    content bytea not null,
    primary key (id, created_at)
  ) partition by range (created_at)`,
  // Sealed content cannot be compressed again.
  'alter table record_contents alter column content set storage external',
  'create table record_contents_rest partition of record_contents default',
  'create index record_contents_by_time on record_contents (created_at)',
];
