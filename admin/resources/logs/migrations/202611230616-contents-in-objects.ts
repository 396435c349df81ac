import { Migration } from '@mikro-orm/migrations';

/** Contents may be in the object store instead of the row. `waits`: the store was away; a job moves the content. */
export class ContentsInObjects extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table record_contents add column object_key text, add column object_offset integer,
     add column object_bytes integer, add column waits boolean not null default false`,
  'create index record_contents_waiting on record_contents (organisation_id, created_at) where waits',
];
